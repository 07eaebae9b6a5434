/** The part of the program that shows a session: a small script of its own, because loading code is most of such a call. */
import { SHOW_VERB } from "../show/command.ts";
import { partWith } from "../main.ts";

export const start = partWith({ top: [SHOW_VERB], fixture: [] });
