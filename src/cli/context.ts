import type { Ports } from "../domain/ports.ts";
import { readVariable } from "./environment.ts";
import { playedPorts } from "./fixture_ports.ts";
import type { CommonFlags } from "./flags.ts";
import { livePorts } from "./live_ports.ts";
import { Output } from "./output.ts";
import { type Config, homeSetting, readConfig, type Setting } from "./settings.ts";

/** What every verb starts with. */
export interface Context {
  readonly ports: Ports;
  readonly output: Output;
  readonly config: Config;
  readonly home: Setting<string>;
}

/** The output as the common flags and `NO_COLOR` shape it. */
export function makeOutput(flags: Pick<CommonFlags, "json" | "quiet" | "color">): Output {
  const noColor = readVariable("NO_COLOR") ?? "";
  return new Output({
    json: flags.json === true,
    quiet: flags.quiet === true,
    colour: flags.color && noColor === "",
  });
}

/** Reads the configuration and decides where sessions live. */
export function makeContext(flags: CommonFlags): Context {
  const ports = playedPorts(livePorts());
  const config = readConfig(ports);
  return { ports, output: makeOutput(flags), config, home: homeSetting(ports, flags.home, config) };
}
