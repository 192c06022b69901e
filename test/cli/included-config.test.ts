/** Files of `include` in a gateway that runs, and in the commands that read its config. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";
import { ask, serve } from "../helpers/serving.ts";

const files = mkdtempSync(join(tmpdir(), "weir-includes-"));
afterAll(() => rmSync(files, { recursive: true, force: true }));
const put = (name: string, text: string) => writeFileSync(join(files, name), text);
const config = `include: ["${files}/*.yaml"]\naliases: {first: mock/chat}\n`;

test("a reload takes a changed and a new file, and a mistake in one leaves all as it was", async () => {
  put("a.yaml", "aliases: {second: mock/chat}\n");
  const weir = await serve({ config, workers: 1 });
  try {
    const statuses = () =>
      Promise.all(
        ["first", "second", "third", "fourth"].map(async (name) => (await ask(weir.url, name)).status),
      );
    expect(await statuses()).toEqual([200, 200, 404, 404]);
    put("a.yaml", "aliases: {third: mock/chat}\n");
    put("b.yaml", "aliases: {fourth: mock/chat}\n");
    expect(weir.run("reload")).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual([200, 404, 200, 200]);
    put("b.yaml", "aliases: {third: mock/chat}\n");
    const refused = weir.run("reload");
    expect(refused.code).toBe(1);
    expect(refused.output).toContain(
      `${files}/b.yaml:1: third is already set at ${files}/a.yaml:1, and each may be set in one file only`,
    );
    expect(await statuses()).toEqual([200, 404, 200, 200]);
  } finally {
    await weir.end();
  }
}, 600_000);

test("weir check lists the files, and weir config show the places", async () => {
  rmSync(join(files, "b.yaml"), { force: true });
  put("a.yaml", "aliases: {second: mock/chat}\nkeys: [bob:k1234567890123456]\n");
  put("main", config);
  const weir = (...args: string[]) => runCommand([...args, "--config", "main"], { cwd: files });
  expect((await weir("check", "--offline")).out).toStartWith("config     main, a.yaml\n");
  const { out } = await weir("config", "show", "--json");
  expect(JSON.parse(out)).toMatchObject({
    include: { value: ["a.yaml"], from: "main:1" },
    aliases: { from: "main:2, a.yaml:1" },
    keys: { value: ["bob"], from: "a.yaml:2" },
  });
  expect(out).not.toContain("k1234567890123456");
}, 600_000);
