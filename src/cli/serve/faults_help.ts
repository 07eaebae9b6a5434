/** The text of `help faults`. */
import { Help } from "commander";
import { faultSections } from "../../fixture/faults/help.ts";

const WIDTH = 100;

/** Returns every fault, the requests that a line may name, and the named faults. */
export function faultsHelp(): string {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  const sections = faultSections().map(({ head, rows }) => {
    const items = rows.map(([term = "", meaning = "", ...more]) =>
      [term, [meaning, ...more.slice(0, head === "Faults" ? 0 : 2)].join("; ").replaceAll("`", '"')] as const
    );
    const width = Math.max(...items.map(([term]) => term.length));
    return [`${head}:`, ...items.map(([term, text]) => help.formatItem(term, width, text, help))].join("\n");
  });
  return ['A line of serve --fault, or "fault" in response.json (one fault, without requests).', ...sections]
    .join("\n\n") + "\n";
}
