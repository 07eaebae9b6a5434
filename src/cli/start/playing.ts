/** The part of the program for `run --fixture`: as that for `run`, with what compares requests with recorded ones. */
export { start } from "./running.ts";
