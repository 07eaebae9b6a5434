/** The part of the program that lists sessions, as small as that for `show`. */
import { LS_VERB } from "../ls/command.ts";
import { partWith } from "../main.ts";

export const start = partWith({ top: [LS_VERB], fixture: [] });
