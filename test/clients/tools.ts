/**
 * Starts weir with its mock and runs the documented programs of tools against it: `bun test/clients/tools.ts PYTHON…`, with
 * the first of these that has the program's package.
 */
import { blocksOf } from "../helpers/documents.ts";
import { startGateway } from "../helpers/gateway.ts";

const DOCUMENT = "src/cli/clients/README.md";
const pythons = process.argv.slice(2);
const gateway = await startGateway({});
const env = {
  ...process.env,
  NO_PROXY: "127.0.0.1",
  // No tool may send anything elsewhere.
  CREWAI_DISABLE_TELEMETRY: "true",
  OTEL_SDK_DISABLED: "true",
};
const programs = blocksOf(DOCUMENT).filter(({ language }) => language === "python");
let failed = 0;
for (const { code } of programs) {
  const name = /^from (\w+)/m.exec(code)![1]!;
  const has = (python: string) => Bun.spawnSync([python, "-c", `import ${name}`], { env }).success;
  const child = Bun.spawn(
    [pythons.find(has) ?? "python3", "-c", code.replaceAll("http://127.0.0.1:9347", gateway.url)],
    {
      env,
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const answers = out.split("\n").filter((line) => line.includes("weir's mock")).length;
  const wanted = code.match(/^print\(/gm)!.length;
  const isRight = (await child.exited) === 0 && answers === wanted;
  if (!isRight) failed++;
  console.log(`${isRight ? "holds" : "FAILS"}  ${name}: ${answers} of ${wanted} answers`);
  if (!isRight) console.log(out + err);
}
await gateway.stop();
console.log(`${programs.length - failed} of ${programs.length} tools`);
process.exit(failed === 0 ? 0 : 1);
