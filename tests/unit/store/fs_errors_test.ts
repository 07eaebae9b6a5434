import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import { fileError, orFileError, orStorageError, storageError } from "../../../src/store/fs_errors.ts";

const REFUSED = [
  new Deno.errors.NotFound("No such file or directory"),
  new Deno.errors.PermissionDenied("Permission denied"),
  Object.assign(new Error("Read-only file system"), { code: "EROFS" }),
  Object.assign(new Error("No space left on device"), { code: "ENOSPC" }),
];

Deno.test("the hint about a path outside of the home names that path, and a hint about the home says how to fix it", () => {
  for (const error of REFUSED) {
    const ours = storageError(error, "open it", "/h");
    const other = fileError(error, "write it", "/x");
    assert.deepEqual([other.code, other.exitCode, other.details.path], [ours.code, 14, "/x"]);
    assert.match(other.message, /^Cannot write it: .*, at "\/x"$/);
    assert.doesNotMatch(other.hint ?? assert.fail(), /fsck|home/);
    if (ours.code !== "storage_full") assert.match(ours.hint ?? assert.fail(), /reprise fsck|--home/);
  }
});

Deno.test("our own bugs and finished errors are passed on unchanged", () => {
  const reported = new RepriseError("usage", "Cannot");
  for (const or of [orStorageError, orFileError]) {
    for (const error of [reported, new TypeError("ours"), new RangeError("ours")]) {
      assert.throws(() =>
        or("try", "/x", () => {
          throw error;
        }), (thrown) => thrown === error);
    }
    assert.throws(() =>
      or("try", "/x", () => {
        throw REFUSED[0];
      }), { code: "storage_failed" });
    assert.equal(or("try", "/x", () => 7), 7);
  }
});
