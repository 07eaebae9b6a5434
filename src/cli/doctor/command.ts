/** `reprise doctor`: flags and declaration. */
import { type FlagsOf, toggle, type Verb, verb } from "../declare.ts";
import { COMMON_FLAGS } from "../flags.ts";

const DOCTOR_FLAGS = {
  ...COMMON_FLAGS,
  live: toggle(
    "--live",
    "ask the API for two turns with a tool call, with and without reasoning (three requests), and the remote",
  ),
};
export type DoctorFlags = FlagsOf<typeof DOCTOR_FLAGS>;

export const DOCTOR_VERB: Verb = verb({
  name: "doctor",
  about: "show the environment, and the source of each setting",
  arguments: [],
  flags: DOCTOR_FLAGS,
  examples: ["reprise doctor --json"],
  load: async () => (await import("./doctor.ts")).doctorVerb,
});
