/**
 * Pictures of pages of the console, for people who change them: `bun test/console/look.ts FOLDER /calls /spend?range=7d`.
 * Each page is shown with a seeded store, with an empty one, while nothing answers, and after a failure; at 1440 and 390 px;
 * light and dark. Faults of the console, of access and sideways scrolling are printed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { missingChromium, startBrowser } from "./browser.ts";
import type { Answer, BrowserPage } from "./browser-page.ts";
import { type Stage, startStage } from "./stage.ts";

const VIEWS = [
  { width: 1440, height: 900, dark: false },
  { width: 1440, height: 900, dark: true },
  { width: 390, height: 844, dark: false },
  { width: 390, height: 844, dark: true },
];

/** What the admin API answers instead; sessions are always its own. */
const STATES: Readonly<Record<string, Answer | undefined>> = {
  data: undefined,
  empty: undefined,
  loading: "never",
  failed: {
    status: 503,
    body: { error: { code: "store", message: "The store did not answer within 2 s." } },
  },
};

/** Time after which a page has drawn what there is. Milliseconds. */
const SETTLED = 900;

if (missingChromium !== undefined) throw new Error(missingChromium);
const [folder = "look", ...paths] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const [browser, seeded, empty] = await Promise.all([
  startBrowser(),
  startStage({ seed: { calls: 4_000, days: 20 } }),
  startStage(),
]);
try {
  for (const path of paths.length > 0 ? paths : ["/"])
    for (const [state, answer] of Object.entries(STATES)) await look(path, state, answer);
} finally {
  await Promise.all([browser.close(), seeded.end(), empty.end()]);
}

async function look(path: string, state: string, answer: Answer | undefined): Promise<void> {
  const stage: Stage = state === "empty" ? empty : seeded;
  const name = `${path.replace(/\W+/g, "-").replace(/^-|-$/g, "") || "now"}-${state}`;
  const page = await stage.open(browser, "/blank");
  if (answer)
    await page.answer(({ pathname }) =>
      pathname.startsWith("/admin/v1/") && !pathname.endsWith("/session") ? answer : undefined,
    );
  await page.go(`${stage.admin.url}/console${path === "/" ? "" : path}`);
  await Bun.sleep(SETTLED);
  for (const view of VIEWS) {
    await page.view(view);
    await Bun.sleep(SETTLED / 3);
    await page.screenshot(join(folder, `${name}-${view.width}-${view.dark ? "dark" : "light"}.png`), true);
    const sideways = await page.sideways();
    if (sideways > 0) console.log(`${name} ${view.width}: ${sideways} px too wide`);
    if (view.dark || state === "data") await report(page, `${name} ${view.width}`);
  }
  for (const fault of new Set(page.faults)) if (state !== "failed") console.log(`${name}: ${fault}`);
  await page.close();
}

async function report(page: BrowserPage, name: string): Promise<void> {
  for (const { id, impact, nodes } of await page.violations())
    console.log(`${name}: ${impact} ${id}: ${nodes.slice(0, 3).join(" | ")}`);
}
