/** What operators see of files, and delete: with a gateway that runs, and from its store. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { freePort } from "../../../../test/helpers/serving.ts";
import type { StoredFile, StoredFiles } from "../contracts.ts";

const KEY = "alice-key-of-files-123456";

let folder: string;
let gateway: RunningGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-files-test-"));
  gateway = await startGateway({
    target: "process",
    config: {
      ...{ state: join(folder, "state"), admin: { port: freePort() } },
      keys: [{ name: "alice", key: KEY, path: "/eng" }],
    },
  });
}, 120_000);

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

const weir = (...words: string[]) => runCommand(["files", ...words], { cwd: gateway.folder });

async function json<Answer>(...words: string[]): Promise<Answer> {
  const { code, out, err } = await weir(...words, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out) as Answer;
}

async function send(name: string): Promise<string> {
  const form = new FormData();
  form.append("file", new File(["text"], name));
  form.append("purpose", "user_data");
  const headers = { authorization: `Bearer ${KEY}` };
  const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", body: form, headers });
  return ((await answer.json()) as { id: string }).id.slice("file-".length);
}

test("list, show and delete", async () => {
  const ids = [await send("one.txt"), await send("two.txt")];
  const { files } = await json<StoredFiles>("list");
  expect(files.map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await json<StoredFiles>("list", "/eng", "--last", "1")).hasMore).toBe(true);
  expect((await json<StoredFiles>("list", "/en")).files).toEqual([]);
  const shown = await json<StoredFile>("show", `file-${ids[0]}`);
  expect(shown).toMatchObject({ id: ids[0], path: "/eng", key: "config:alice", name: "one.txt", bytes: 4 });
  expect((await weir("list")).out).toContain("two.txt");
  expect((await weir("show", ids[1]!)).out).toContain("user_data");
  expect((await weir("delete", ids[0]!)).out).toContain(`deleted ${ids[0]}`);
  expect((await weir("show", ids[0]!)).code).toBe(1);
  expect(await readdir(join(folder, "state/files"))).toEqual([ids[1]!]);

  await gateway.stop();
  // Its config went with its folder; the store has the file.
  const words = ["files", "delete", ids[1]!, "--state", join(folder, "state")];
  const { code, out, err } = await runCommand(words, { cwd: folder });
  expect([code, err, out.trim()]).toEqual([0, "", `deleted ${ids[1]}`]);
  expect(await readdir(join(folder, "state/files"))).toEqual([]);
}, 120_000);
