/** The part of the program that lists sessions: it lacks what `show` loads. */
export { start } from "./viewing.ts";
