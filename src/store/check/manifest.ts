/**
 * The check of the manifest against the turns: it may lag, it may be made anew, it must never lead.
 *
 * @module
 */
import type { Findings } from "./findings.ts";
import type { Walk } from "./turns.ts";
import type { ManifestFile } from "../read/manifest_file.ts";

const PATH = "manifest.json";

/** Names what is wrong with the manifest. Files that are refused were named already. */
export function checkManifest(file: ManifestFile, walk: Walk, add: Findings): void {
  switch (file.status) {
    case "refused":
      return;
    case "missing":
      if (walk.files > 0) {
        add("warning", "manifest_missing", {
          path: PATH,
          message: "is missing; it is made anew from the turns",
        });
      }
      return;
    case "garbled":
      add("warning", "manifest_garbled", {
        path: PATH,
        message: `${file.message}; it is made anew from the turns`,
      });
      return;
    case "newer":
      add("info", "manifest_newer", { path: PATH, message: `${file.message}; it is left alone` });
      return;
    case "ok":
      checkHead(file, walk, add);
      return;
  }
}

function checkHead({ manifest }: Extract<ManifestFile, { status: "ok" }>, walk: Walk, add: Findings): void {
  const { turn } = manifest.head;
  if (turn > walk.last) {
    const message = `names turn ${turn} as the newest, but the newest file is turn ${walk.last}`;
    add("error", "manifest_leads", { path: PATH, message, turn });
    return;
  }
  if (walk.manifestAtHead !== null && JSON.stringify(walk.manifestAtHead) !== JSON.stringify(manifest)) {
    const message = `does not say what the turns up to ${turn} say; it is made anew from them`;
    add("warning", "manifest_wrong", { path: PATH, message, turn });
  }
  if (turn < walk.last) {
    add("info", "manifest_lags", {
      path: PATH,
      message: `ends at turn ${turn}, the turns at ${walk.last}`,
      turn,
    });
  }
}
