/** The writers, by agent. */
import type { AgentName } from "./agent_session.ts";
import { writeClaude } from "./claude/write.ts";
import { writeCodex } from "./codex/write.ts";
import { writePi } from "./pi/write.ts";
import type { AgentFile, Written } from "./writing.ts";

export const WRITERS: Readonly<Record<AgentName, (written: Written) => AgentFile>> = {
  codex: writeCodex,
  claude: writeClaude,
  pi: writePi,
};
