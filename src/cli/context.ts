import { asRepriseError, type ErrorCode } from "../domain/errors.ts";
import { type Home, openHome } from "../store/home.ts";
import type { CommonFlags } from "./flags.ts";
import type { ProgramPorts } from "./live_ports.ts";
import { Output } from "./output.ts";
import { type ConfigFile, readConfig } from "./config_file.ts";
import { homeSetting, type Setting } from "./settings.ts";

export interface Context {
  readonly ports: ProgramPorts;
  readonly output: Output;
  readonly config: ConfigFile;
  readonly home: Setting<string>;
}

/** The output as the common flags and `NO_COLOR` shape it. */
export function makeOutput(
  ports: ProgramPorts,
  flags: Pick<CommonFlags, "json" | "quiet" | "color">,
): Output {
  const noColor = ports.env("NO_COLOR") ?? "";
  return new Output({
    json: flags.json === true,
    quiet: flags.quiet === true,
    colour: flags.color && noColor === "",
  }, ports);
}

/** The context of a call. Configuration and home are looked up when a verb uses them: not every verb does. */
export function makeContext(ports: ProgramPorts, flags: CommonFlags): Context {
  let config: ConfigFile | undefined;
  const readOnce = () => config ??= readConfig(ports);
  return {
    ports,
    output: makeOutput(ports, flags),
    get config() {
      return readOnce();
    },
    get home() {
      return homeSetting(ports, flags.home, readOnce);
    },
  };
}

/** The home of a call, as far as it exists. Throws as {@linkcode openHome} does. */
export function homeOf({ ports, home }: Context): Home {
  return openHome(ports, home.value);
}

/** The home of a call that writes nothing, which may do without one: then a home that holds nothing. */
export function homeToRead(context: Context): Home {
  try {
    return homeOf(context);
  } catch (error) {
    const known = asRepriseError(error);
    if (!NO_HOME.has(known.code)) throw error;
    return { path: UNKNOWN_HOME, sessions: `${UNKNOWN_HOME}/sessions` };
  }
}

/** Codes of a home or a configuration that is unknown, or that this user may not see. */
const NO_HOME: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["usage", "bad_configuration", "storage_denied"]);
const UNKNOWN_HOME = "~/.local/share/reprise";
