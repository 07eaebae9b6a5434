/**
 * Program of a test: appends exchanges to a fixture one recording at a time, and waits for its turn before each.
 *
 * Arguments: the folder, the name of the exchanges, their number.
 */
import { RepriseError } from "../../../../src/domain/errors.ts";
import { append } from "./appending.ts";

const [path = "", name = "", count = ""] = Deno.args;
for (let number = 1; number <= Number(count);) {
  try {
    const { failure, published } = await append(path, [`${name}${number}`]);
    if (failure !== null || published !== 1) throw failure?.error ?? new Error("Nothing was published");
    number += 1;
  } catch (error) {
    if (!(error instanceof RepriseError && error.code === "fixture_locked")) throw error;
  }
}
