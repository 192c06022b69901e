/**
 * The real Claude Code signs in at weir, and shows what weir tells it. One line for each promise, with what was seen.
 * @example npx -y bun@1.4.5 src/features/identity/test/claude-gateway/run.ts
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../../test/helpers/serving.ts";
import { install } from "../../../../../test/clients/programs.ts";
import { Screen } from "./screen.ts";
import { type Stage, startStage } from "./stage.ts";

const PACKAGE = "@anthropic-ai/claude-code@2.1.328";
const PLACE = process.env["CLAUDE_GATEWAY_PLACE"] ?? "/tmp/weir-claude-gateway";
const HOME = join(PLACE, "home");
const WORK = join(HOME, "work");
const [UP, DOWN, ENTER] = ["\x1b[A", "\x1b[B", "\r"];

/** Two of them the client shows to the person first; it measures itself every second. */
const SETTINGS = {
  permissions: { deny: ["WebFetch"] },
  env: {
    ...{ CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: "1", CLAUDE_CODE_GATEWAY_HINT_HEADERS: "1" },
    ...{ CLAUDE_CODE_ENABLE_TELEMETRY: "1", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" },
    ...{
      OTEL_METRIC_EXPORT_INTERVAL: "1000",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_LOGS_EXPORT_INTERVAL: "1000",
    },
  },
};

let held = 0;
let failed = 0;

async function promise(name: string, seen: () => Promise<string>): Promise<void> {
  try {
    console.log(`holds   ${name}: ${await seen()}`);
    held++;
  } catch (cause) {
    console.log(`FAILED  ${name}: ${(cause as Error).message}`);
    failed++;
  }
}

function expect(holds: boolean, sentence: string): string {
  if (!holds) throw new Error(sentence);
  return sentence;
}

/** A fresh home without a sign-in, in which the client trusts its folder. */
function makeHome(gateway: string): void {
  rmSync(HOME, { recursive: true, force: true });
  mkdirSync(join(HOME, ".claude"), { recursive: true });
  mkdirSync(WORK);
  const projects = { [WORK]: { hasTrustDialogAccepted: true, allowedTools: [] } };
  writeFileSync(
    join(HOME, ".claude.json"),
    JSON.stringify({ hasCompletedOnboarding: true, theme: "dark", projects }),
  );
  writeFileSync(
    join(HOME, ".claude/settings.json"),
    JSON.stringify({
      ...{ forceLoginMethod: "gateway", forceLoginGatewayUrl: gateway },
      attributionProject: "alpha",
    }),
  );
}

function open(): Screen {
  const program = join(PLACE, "node_modules/@anthropic-ai/claude-code-linux-x64/claude");
  return new Screen([program], {
    cwd: WORK,
    env: {
      ...{ PATH: process.env["PATH"] ?? "", HOME, TERM: "xterm-256color", LANG: "C.UTF-8" },
      ...{ BROWSER: "/bin/true", DISABLE_AUTOUPDATER: "1" },
      ...{ HTTP_PROXY: "", HTTPS_PROXY: "", NO_PROXY: "127.0.0.1,localhost" },
    },
  });
}

/** Types a line as a person does: the client takes a text that comes at once as pasted. */
async function say(screen: Screen, line: string): Promise<void> {
  screen.press(line);
  await Bun.sleep(800);
  screen.press(ENTER);
}

async function choose(screen: Screen, move: string): Promise<void> {
  await Bun.sleep(500);
  screen.press(move);
  await Bun.sleep(500);
  screen.press(ENTER);
}

/** Up to the question whether to trust the gateway, or the reason why not. */
async function beginLogin(screen: Screen): Promise<void> {
  await screen.find(/Not logged in/);
  await Bun.sleep(500);
  await say(screen, "/login");
  await screen.find(/Enter to connect/);
  await Bun.sleep(300);
  screen.press(ENTER);
}

async function login(screen: Screen, stage: Stage): Promise<string> {
  await beginLogin(screen);
  await screen.find(/Trust gateway/);
  await choose(screen, UP);
  const [, code] = await screen.find(/Code: ([A-Z]{4}-[A-Z]{4})/);
  await stage.approve(code!);
  const [sentence] = await screen.find(/Signed in to Cloud gateway as \S+/);
  await choose(screen, UP);
  await screen.find(/Connected to Cloud gateway/);
  await Bun.sleep(500);
  screen.press(ENTER);
  return sentence;
}

const countOf = (stage: Stage, pattern: RegExp, status: number) =>
  stage.seen.filter((one) => pattern.test(`${one.method} ${one.path}`) && one.status === status).length;

/** The token of the person, as the client sends it. */
const tokenOf = (stage: Stage) =>
  stage.seen.findLast((one) => one.path.startsWith("/v1/messages"))!.headers.get("authorization")!;

async function usage(stage: Stage): Promise<{ percent: number; used: number; limit: number }> {
  const answer = await fetch(`${stage.url}/api/oauth/usage`, { headers: { authorization: tokenOf(stage) } });
  const { extra_usage: extra } = (await answer.json()) as any;
  return { percent: extra.utilization, used: extra.used_credits, limit: extra.monthly_limit };
}

/** Other work of the person, up to a part of the budget; one call costs 2 % of it. */
async function spend(stage: Stage, percent: number): Promise<void> {
  stage.tokens = 20_000;
  for (let calls = 0; (await usage(stage)).percent < percent && calls < 80; calls++) {
    const answer = await fetch(`${stage.url}/v1/messages`, {
      method: "POST",
      headers: { authorization: tokenOf(stage), "content-type": "application/json" },
      body: JSON.stringify({
        ...{ model: "claude-opus-4-7", max_tokens: 20_000, messages: [{ role: "user", content: "x" }] },
      }),
    });
    await answer.text();
    await Bun.sleep(60);
  }
  stage.tokens = 1;
}

await install("npm", PLACE, [PACKAGE]);
const stage = await startStage({
  more: { budgets: { alice: { on: "/people/alice", every: "month", limit: 1, mode: "soft" } } },
  settings: SETTINGS,
});
makeHome(stage.url);
let screen = open();
try {
  await promise("a person signs in with /login", () => login(screen, stage));
  await promise("managed settings are shown, applied, and fetched again with 304", async () => {
    await screen.find(/Managed settings require approval/);
    await choose(screen, DOWN);
    await until(() => countOf(stage, /^GET \/managed\/settings/, 304) > 0, 20_000);
    const [whole, spared] = [200, 304].map((status) => countOf(stage, /^GET \/managed\/settings/, status));
    return expect(whole! > 0 && spared! > 0, `${whole} times 200, ${spared} times 304`);
  });
  await promise("models are listed", async () => {
    await until(() => countOf(stage, /^GET \/v1\/models/, 200) > 0, 10_000);
    return expect(countOf(stage, /^GET \/v1\/models/, 200) > 0, "GET /v1/models answers 200");
  });
  await promise("a request is answered", async () => {
    await Bun.sleep(4_000);
    screen.clear();
    await say(screen, "say hi");
    return (await screen.find(/the upstream has answered/))[0];
  });
  await promise("the person's project is a label, and no provider gets it", async () => {
    const labelled = stage.seen.filter((one) => one.body.includes('"tags":{"project":"alpha"}'));
    const passed = stage.asked.filter((body) => "tags" in body);
    const said = `${labelled.length} requests with the label, ${passed.length} at the provider`;
    return expect(labelled.length > 0 && passed.length === 0, said);
  });
  await promise("what the client measures is taken", async () => {
    await until(() => countOf(stage, /^POST \/v1\/metrics/, 200) > 0, 30_000);
    const [metrics, logs] = ["metrics", "logs"].map((name) =>
      countOf(stage, new RegExp(`^POST /v1/${name}`), 200),
    );
    return expect(metrics! > 0 && logs! > 0, `${metrics} times metrics, ${logs} times logs, all 200`);
  });
  for (const percent of [76, 96])
    await promise(`a notice at ${percent} %`, async () => {
      await spend(stage, percent);
      // A new session draws the whole notice, where a running one would draw the digits that changed.
      await screen.end();
      screen = open();
      await screen.find(/auto mode on/);
      await Bun.sleep(2_000);
      await say(screen, `again at ${percent}`);
      return (await screen.find(/You've used \d+% of your[^\n]*/))[0];
    });
  await promise("/usage shows dollars", async () => {
    screen.clear();
    await say(screen, "/usage");
    const [shown] = await screen.find(/\$[\d.]+ ?\/ ?\$[\d.]+[^\n]*/);
    screen.press("\x1b");
    return shown;
  });
  await promise("a budget that is spent is said in weir's sentence", async () => {
    await spend(stage, 100);
    await Bun.sleep(500);
    screen.clear();
    await say(screen, "and now");
    return (await screen.find(/The budget "alice,\s*month"[^\n]*/))[0];
  });
  await promise("sign-out ends the token at once", async () => {
    const token = tokenOf(stage);
    screen.clear();
    await say(screen, "/logout");
    await until(() => countOf(stage, /^POST \/oauth\/revoke/, 200) > 0, 20_000);
    const revoked = countOf(stage, /^POST \/oauth\/revoke/, 200);
    const { status, headers } = await fetch(`${stage.url}/managed/settings`, {
      headers: { authorization: token },
    });
    const again = headers.get("x-should-retry");
    return expect(
      revoked > 0 && status === 401 && again === "false",
      `${revoked} times revoked, then ${status}, x-should-retry ${again}`,
    );
  });
} finally {
  await screen.end();
}
await promise("an address that is not private is refused by the client", async () => {
  makeHome("https://192.88.99.1");
  screen = open();
  try {
    await beginLogin(screen);
    return (await screen.find(/Gateway hosts must be[^\n]*/))[0];
  } finally {
    await screen.end();
  }
});
await stage.end();

const translating = await startStage({ translates: true, access: "60s" });
makeHome(translating.url);
screen = open();
try {
  await promise("a translated request goes on without safeguards", async () => {
    await login(screen, translating);
    await Bun.sleep(5_000);
    screen.clear();
    await say(screen, "say hi");
    await screen.find(/the upstream has answered/);
    const sent = translating.seen.filter(
      (one) => /^\/v1\/messages\?/.test(one.path) && one.body.includes('"tools"'),
    );
    const steps = sent.map(
      (one) => `${one.status} ${one.body.includes('"safeguards"') ? "with" : "without"}`,
    );
    return expect(steps[0] === "400 with" && steps.includes("200 without"), steps.join(", "));
  });
  await promise("a token is renewed before it ends", async () => {
    await until(() => countOf(translating, /^POST \/oauth\/token/, 200) > 1, 90_000);
    screen.clear();
    await say(screen, "once more");
    await screen.find(/the upstream has answered/);
    return expect(
      countOf(translating, /^POST \/oauth\/token/, 200) > 1,
      `${countOf(translating, /^POST \/oauth\/token/, 200)} times a token`,
    );
  });
  await promise("who is gone at the provider is asked to sign in", async () => {
    translating.provider.refreshing.answer = { status: 400, body: { error: "invalid_grant" } };
    await until(() => countOf(translating, /^POST \/oauth\/token/, 401) > 0, 120_000);
    screen.clear();
    await say(screen, "still there?");
    const [shown] = await screen.find(/[^\n]*\/login[^\n]*/);
    return expect(countOf(translating, /^POST \/oauth\/token/, 401) > 0, `401, then: ${shown.trim()}`);
  });
} finally {
  await screen.end();
}
await translating.end();
console.log(`${held} of ${held + failed} hold`);
process.exit(failed === 0 ? 0 : 1);
