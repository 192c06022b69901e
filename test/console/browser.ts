/**
 * Headless Chromium for tests of the console. Where it is absent, and in `bun run test`, the tests skip with
 * {@link missingChromium}; `bun run browser` runs them.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DevTools } from "./devtools.ts";
import { BrowserPage, type View } from "./browser-page.ts";
import { IS_ALL } from "../helpers/effort.ts";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The whole of the tests leaves the browser to a run of its own, because it needs the machine for itself. */
const isLeftOut = IS_ALL && process.env["LONG_BROWSER"] !== "1";
const program = process.env["CHROMIUM"] ?? PROGRAMS.find((path) => existsSync(path));

/** Why tests in Chromium are skipped; undefined where they run. */
export const missingChromium = isLeftOut
  ? "`bun run browser` runs it"
  : program === undefined
    ? "Chromium is not installed; on Debian: apt-get install chromium"
    : undefined;

export interface Browser {
  /** Opens a tab. Tabs share their cookies unless they have another `profile`. */
  open(url: string, view?: View & { isolated?: boolean }): Promise<BrowserPage>;
  close(): Promise<void>;
}

const FLAGS = [
  "--headless=new",
  "--remote-debugging-port=0",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-extensions",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--hide-scrollbars",
  "--force-color-profile=srgb",
];

/** Time for the start of the browser. Milliseconds. */
const START_MS = 60_000;

export async function startBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "weir-browser-"));
  // Chromium refuses to run as root with its sandbox.
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const child = Bun.spawn([program!, ...FLAGS, ...asRoot, `--user-data-dir=${folder}`, "about:blank"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const end = async () => {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  // A test that fails may leave it.
  process.once("exit", () => child.kill("SIGKILL"));
  try {
    const devtools = await DevTools.connect(await addressOf(join(folder, "DevToolsActivePort")));
    return {
      async open(url, { isolated = false, ...view } = {}) {
        const context = isolated
          ? await devtools.send<{ browserContextId: string }>("Target.createBrowserContext")
          : {};
        const { targetId } = await devtools.send<{ targetId: string }>("Target.createTarget", {
          url: "about:blank",
          ...context,
        });
        const page = await BrowserPage.attach(devtools, targetId, view);
        await page.go(url);
        return page;
      },
      async close() {
        devtools.close();
        await end();
      },
    };
  } catch (cause) {
    await end();
    throw cause;
  }
}

/** Chromium writes its port and the path of its WebSocket to a file. */
async function addressOf(file: string): Promise<string> {
  for (const began = Date.now(); Date.now() - began < START_MS; await Bun.sleep(50)) {
    const [port, path] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    if (port && path) return `ws://127.0.0.1:${port}${path}`;
  }
  throw new Error("Chromium did not start.");
}
