import assert from "node:assert/strict";
import { type ForkNode, forkTree } from "../../src/cli/inspection/fork_tree.ts";
import type { SessionSummary } from "../../src/store/home.ts";

function session(id: string, parent?: string): SessionSummary {
  return {
    id,
    path: id,
    manifest: { ...(parent === undefined ? {} : { parent }) },
  } as unknown as SessionSummary;
}

function drawn(nodes: readonly ForkNode<SessionSummary>[]): string {
  return nodes.map(({ session: { id }, forks }) => forks.length === 0 ? id : `${id}(${drawn(forks)})`).join(
    " ",
  );
}

Deno.test("each session occurs once in the tree: under its parent, or at the root where that is missing", () => {
  const damaged = { id: "d", path: "d", manifest: null } as unknown as SessionSummary;
  const list = [
    session("c", "b"),
    session("a"),
    session("b", "a"),
    session("e", "gone"),
    damaged,
    session("f", "a"),
  ];
  assert.equal(drawn(forkTree(list)), "a(b(c) f) e d");
});

Deno.test("sessions that name each other as parents are shown all the same, once each", () => {
  assert.equal(drawn(forkTree([session("a", "b"), session("b", "a"), session("c", "c")])), "a(b) c");
});
