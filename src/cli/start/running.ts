/**
 * The part of the program for `run` with a live API: a script of its own, because loading code is much of a short run. It
 * lacks what `--record` and `--fixture` need, more than half of the program.
 */
import { RUN_VERB } from "../run/command.ts";
import { partWith } from "../main.ts";

export const start = partWith({ top: [RUN_VERB], fixture: [] });
