/** Fixtures of recordings, imported by the program. */
import { type Fixture, readFixture } from "../../src/fixture/read.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { RecordingHome } from "../doors/recordings/home.ts";

/** Imports a file with this content, and reads its fixtures. */
export async function importedFixtures(name: string, content: string | Uint8Array): Promise<Fixture[]> {
  await using home = new RecordingHome();
  const file = name.slice(name.lastIndexOf("/") + 1);
  home.file(file, content);
  const { imported } = await home.json(["import", file, "to"]);
  return imported[0].fixtures.map(({ path }: { path: string }) =>
    readFixture(denoFiles, `${home.directory}/${path}`)
  );
}
