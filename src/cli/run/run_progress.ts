/** Progress of a run while the model or a tool is silent: elapsed time, and the tokens of the run so far. */
import { counted } from "../../domain/text.ts";
import type { RunEvent } from "../../schemas/run_events.ts";
import type { Output } from "../output.ts";
import { Progress, type ProgressPorts } from "../progress.ts";

/** Time between two looks at the clock. */
const TICK_MS = 200;

export class RunProgressLine {
  readonly #output: Output;
  readonly #ports: ProgressPorts;
  #timer: ReturnType<typeof setInterval> | undefined;
  #tokens = 0;
  #model = "";

  constructor(output: Output, ports: ProgressPorts) {
    this.#output = output;
    this.#ports = ports;
  }

  /** Takes an event before it is shown. */
  follow(event: RunEvent): void {
    switch (event.type) {
      case "run.started":
        this.#model = event.model;
        break;
      case "usage":
        this.#tokens += event.input_tokens + event.output_tokens;
        break;
      case "request":
        this.#wait(() => `waiting for ${this.#model}`);
        break;
      case "tool.started":
        this.#wait(() => `running ${event.name}`);
        break;
      // On a terminal the deltas are on the screen; elsewhere the model is still at work.
      case "text.delta":
        if (this.#output.stdoutIsTerminal) this.stop();
        break;
      case "reasoning.delta":
        if (this.#output.stderrIsTerminal) this.stop();
        break;
      case "item":
        if (this.#output.stderrIsTerminal) this.#wait(() => `waiting for ${this.#model}`);
        break;
      case "turn.saved":
      case "tool.finished":
      case "error":
      case "run.ended":
        this.stop();
        break;
      case "session":
      case "notice":
        break;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#output.clearStatus();
  }

  #wait(text: () => string): void {
    this.stop();
    const progress = new Progress(this.#output, this.#ports, TICK_MS);
    if (!progress.isShown) return;
    const tokens = () => this.#tokens === 0 ? "" : `, ${counted(this.#tokens, "token")} so far`;
    this.#timer = setInterval(() => progress.step(() => `${text()}${tokens()}`), TICK_MS);
  }
}
