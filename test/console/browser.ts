/**
 * A headless browser for tests of the console: Chromium, or Firefox with `BROWSER=firefox`. Where it is absent, and in
 * `bun run test`, the tests skip with {@link missingChromium}; `bun run browser` runs them.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrowserPage, type View } from "./browser-page.ts";
import { ChromiumTab } from "./chromium-tab.ts";
import { FirefoxTab } from "./firefox-tab.ts";
import { Protocol } from "./protocol.ts";
import { IS_ALL } from "../helpers/effort.ts";

interface Kind {
  name: string;
  /** Where Debian puts it; a variable of the same name in capitals names another one. */
  paths: readonly string[];
  package: string;
  start: (program: string, folder: string) => string[];
  /** @returns the address of its protocol; undefined until it is known */
  address(folder: string, printed: string): string | undefined;
}

const KINDS: Readonly<Record<"chromium" | "firefox", Kind>> = {
  chromium: {
    name: "Chromium",
    paths: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
    package: "chromium",
    start: (program, folder) => [program, ...FLAGS, ...asRoot(), `--user-data-dir=${folder}`, "about:blank"],
    address: (folder) => {
      // Chromium writes its port and the path of its WebSocket to a file.
      const file = join(folder, "DevToolsActivePort");
      const [port, path] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
      return port && path ? `ws://127.0.0.1:${port}${path}` : undefined;
    },
  },
  firefox: {
    name: "Firefox",
    paths: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
    package: "firefox-esr",
    start: (program, folder) => {
      writeFileSync(join(folder, "user.js"), PREFERENCES);
      const profile = ["--profile", folder, "--no-remote", "--new-instance"];
      return [program, "--headless", ...profile, "--remote-debugging-port=0", "about:blank"];
    },
    address: (_, printed) => {
      const [, url] = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(printed) ?? [];
      return url && `${url}/session`;
    },
  },
};

export type BrowserKind = keyof typeof KINDS;

const kind: BrowserKind = process.env["BROWSER"] === "firefox" ? "firefox" : "chromium";

/** The whole of the tests leaves the browser to a run of its own, because it needs the machine for itself. */
const isLeftOut = IS_ALL && process.env["LONG_BROWSER"] !== "1";

const programOf = (of: BrowserKind) =>
  process.env[of.toUpperCase()] ?? KINDS[of].paths.find((path) => existsSync(path));

/** Why tests in a browser are skipped; undefined where they run. */
export function missingBrowser(of: BrowserKind): string | undefined {
  if (isLeftOut) return "`bun run browser` runs it";
  const { name, package: packaged } = KINDS[of];
  return programOf(of) === undefined
    ? `${name} is not installed; on Debian: apt-get install ${packaged}`
    : undefined;
}

export const missingChromium = missingBrowser(kind);

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

/** Chromium refuses to run as root with its sandbox. */
const asRoot = () => (process.getuid?.() === 0 ? ["--no-sandbox"] : []);

/** What Chromium is told by flags and by its protocol. */
const PREFERENCES = Object.entries({
  "ui.prefersReducedMotion": 1,
  "ui.systemUsesDarkTheme": 0,
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "remote.prefs.recommended": true,
  "ui.useOverlayScrollbars": 1,
})
  .map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`)
  .join("");

/** Time for the start of the browser. Milliseconds. */
const START_MS = 60_000;

export async function startBrowser(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "weir-browser-"));
  const { name, start, address } = KINDS[kind];
  const child = Bun.spawn(start(programOf(kind)!, folder), {
    env: { ...process.env, HOME: folder },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const end = async () => {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  // A test that fails may leave it.
  process.once("exit", () => child.kill("SIGKILL"));
  try {
    const protocol = await Protocol.connect(
      await addressOf(name, (printed) => address(folder, printed), child.stderr),
    );
    if (kind === "firefox") await protocol.send("session.new", { capabilities: {} });
    const Tab = kind === "firefox" ? FirefoxTab : ChromiumTab;
    return {
      async open(url, { isolated = false, ...view } = {}) {
        const page = await BrowserPage.open((events) => Tab.open(protocol, isolated, events), view);
        await page.go(url);
        return page;
      },
      async close() {
        protocol.close();
        await end();
      },
    };
  } catch (cause) {
    await end();
    throw cause;
  }
}

/** @param printed what the browser prints; it is read to its end */
async function addressOf(
  name: string,
  find: (printed: string) => string | undefined,
  printed: ReadableStream<Uint8Array>,
): Promise<string> {
  let text = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of printed) text = (text + decoder.decode(chunk)).slice(-10_000);
  })();
  for (const began = Date.now(); Date.now() - began < START_MS; await Bun.sleep(50)) {
    const url = find(text);
    if (url !== undefined) return url;
  }
  throw new Error(`${name} did not start: ${text.slice(-500)}`);
}
