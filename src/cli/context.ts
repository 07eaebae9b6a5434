import type { CommonFlags } from "./flags.ts";
import type { ProgramPorts } from "./live_ports.ts";
import { Output } from "./output.ts";
import { type ConfigFile, readConfig } from "./config_file.ts";
import { homeSetting, type Setting } from "./settings.ts";

/** Ports, output and settings that every verb starts with. */
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

/** Reads the configuration and decides where sessions live. */
export function makeContext(ports: ProgramPorts, flags: CommonFlags): Context {
  const config = readConfig(ports);
  return { ports, output: makeOutput(ports, flags), config, home: homeSetting(ports, flags.home, config) };
}
