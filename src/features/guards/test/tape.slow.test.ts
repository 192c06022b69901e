/** A tape that is recorded with guards has tokens alone, and is replayed with the same secret: the client reads its values. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { makeFolder } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(120_000);

const MAIN = join(import.meta.dir, "../../../main.ts");
const EMAIL = "anna@example.com";
const ASK = `const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
  method: "POST", headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: process.argv[2] }] }),
});
console.log(await response.text());`;

test("with guards.secret a tape is replayed, and what is not on it has tokens for all but the client", async () => {
  const secret = "tokens-of-a-test-0001";
  const folder = await makeFolder({
    config: { guards: { secret, pii: { find: ["email"], do: "replace" } } },
  });
  await Bun.write(join(folder, "ask.ts"), ASK);
  const run = async (what: "record" | "replay", content: string) => {
    const own = [process.execPath, join(folder, "ask.ts"), content];
    const child = Bun.spawn([process.execPath, MAIN, what, "job.tape", "--", ...own], {
      ...{ cwd: folder, env: environmentIn(folder), stdout: "pipe", stderr: "pipe", stdin: "ignore" },
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.exited;
    return { out, err };
  };
  const recorded = await run("record", `Write to ${EMAIL}`);
  expect(recorded.out).toContain(`Write to ${EMAIL}`);
  const tape = await Bun.file(join(folder, "job.tape")).text();
  expect([tape.includes("PII_EMAIL_"), tape.includes(EMAIL), tape.includes(secret)]).toEqual([
    true,
    false,
    false,
  ]);
  const replayed = await run("replay", `Write to ${EMAIL}`);
  expect(replayed.out).toContain(`"content":"Write to ${EMAIL}"`);
  const missed = await run("replay", `Ask ${EMAIL}`);
  expect(missed.out).toContain("not_on_tape");
  expect([missed.out.includes(`Ask ${EMAIL}`), missed.out.includes("PII_EMAIL_")]).toEqual([true, false]);
  expect([missed.err.includes("Ask PII_EMAIL_"), missed.err.includes(EMAIL)]).toEqual([true, false]);
  await rm(folder, { recursive: true });
});
