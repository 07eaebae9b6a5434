/** The text of `help faults`. */
import { Help } from "commander";
import { faultSections } from "../../fixture/faults/help.ts";

const WIDTH = 100;

/** Returns every fault, the requests that a line may name, and the named faults. */
export function faultsHelp(): string {
  return sectionsText(
    'A line of serve --fault, or "fault" in response.json (one fault, without requests).',
    faultSections().map(({ head, rows }) => ({
      head,
      rows: rows.map(([term = "", meaning = "", ...more]) => [
        term,
        [meaning, ...more.slice(0, head === "Faults" ? 0 : 2)].join("; ").replaceAll("`", '"'),
      ]),
    })),
  );
}

/** Returns lists of terms with their meanings, each below its head. */
export function sectionsText(
  first: string,
  sections: readonly { readonly head: string; readonly rows: readonly (readonly string[])[] }[],
): string {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  const texts = sections.map(({ head, rows }) => {
    const width = Math.max(...rows.map(([term = ""]) => term.length));
    const items = rows.map(([term = "", meaning = ""]) => help.formatItem(term, width, meaning, help));
    return [`${head}:`, ...items].join("\n");
  });
  return `${[first, ...texts].join("\n\n")}\n`;
}
