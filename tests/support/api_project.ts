/** A reader's project with a key, and a base URL that leads to a loopback Responses API. */
import { PageProject } from "./page_project.ts";
import { SHELL_PROGRAM } from "./reprise.ts";
import { type Script, startResponsesServer } from "./scripted_api/responses.ts";

/** The key of the project. */
const KEY = "sk-test-4f1d0c7ea9-never-recorded";

/** A project whose keys and base URL lead to a loopback API. */
export class ApiProject extends PageProject {
  readonly server;

  constructor(script: Script, rules: "openai" | "none" = "openai") {
    super();
    this.server = startResponsesServer({ script, key: KEY, rules });
    this.origins.set(new URL(this.server.baseUrl).origin, "https://api.openai.com");
    Object.assign(this.env, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: this.server.baseUrl });
    // The server represents api.openai.com, which the recorder knows by its name, and which pages name as a base URL.
    this.program(
      "bin/reprise",
      `#!/bin/sh
[ "$1" != record ] || { shift; set -- record --provider openai "$@"; }
for each; do
  shift
  [ "$each" != https://api.openai.com/v1 ] || each=$OPENAI_BASE_URL
  set -- "$@" "$each"
done
exec ${SHELL_PROGRAM} "$@"
`,
    );
    this.program("tools/pytest", '#!/bin/sh\nexec /usr/bin/python3 -m pytest -p no:cacheprovider "$@"\n');
    this.program("tools/python3", '#!/bin/sh\nexec /usr/bin/python3 "$@"\n');
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    await super[Symbol.asyncDispose]();
  }
}
