/**
 * A gateway for tests of the console: a process of its own, its books in a folder, the mock as its provider. `mock/*` has
 * prices, and `smart` is a route that fails once before it answers.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SignInLink } from "../../src/operator/index.ts";
import { freePort } from "../helpers/serving.ts";
import { streamedText } from "../helpers/streamed.ts";
import { type RunningBooks, startBooks } from "../books/running.ts";
import type { Browser } from "./browser.ts";
import type { BrowserPage, View } from "./browser-page.ts";
import { type SeedOptions, seedStore } from "./seed.ts";

export interface Stage extends RunningBooks {
  /** Opens a page of the console, signed in. @param path `/calls?outcome=failed` */
  open(browser: Browser, path: string, view?: View): Promise<BrowserPage>;
  /** Makes a call. @returns its status and text, and its id */
  call(model: string, options?: CallOptions): Promise<{ status: number; text: string; id: string }>;
}

export interface CallOptions {
  /** The key's text. Default: a key `stage` if the store is seeded, else none. */
  key?: string;
  stream?: boolean;
  content?: string;
}

export interface StageOptions {
  /** Calls in its store before it starts. */
  seed?: SeedOptions;
  config?: Readonly<Record<string, unknown>>;
  /** With more than one the keeper is a process of its own. Default: 1. */
  workers?: number;
  env?: Record<string, string>;
}

/** Longest wait for the answer to the sign-in. Milliseconds. */
const SIGN_IN_MS = 3_000;
const IS_ANSWERED = `performance.getEntriesByType("resource")
  .some(({ name, responseStatus }) => name.endsWith("/session") && responseStatus > 0)`;

const PRICE = { input: 3, output: 15 };

const CONFIG = {
  prices: Object.fromEntries(
    ["chat", "echo", "slow", "reason", "pace-20", "long-1000"].map((name) => [`mock/${name}`, PRICE]),
  ),
  routes: { smart: ["mock/error-503", "mock/chat"] },
};

/** Starts it on free ports. End it with `end()`. */
export async function startStage({
  seed,
  config = {},
  env = {},
  workers = 1,
}: StageOptions = {}): Promise<Stage> {
  const state = mkdtempSync(join(tmpdir(), "weir-stage-"));
  if (seed) await seedStore(state, seed);
  // A page of a gateway that has ended must not ask this one, at the usual port.
  const admin = { port: freePort() };
  const books = await startBooks({ workers, config: { ...CONFIG, admin, ...config }, env, state });
  // With keys in its store every call needs one.
  const own = seed ? books.createKey("stage") : undefined;
  return {
    ...books,
    async open(browser, path, view = {}) {
      const { url } = await books.api.send<SignInLink>("POST", "/session/link");
      const { hash } = new URL(url);
      const page = await browser.open(`${books.admin.url}/console${path === "/" ? "" : path}${hash}`, view);
      // A page that is left before the answer has used its link and has no cookie. Some views never get one.
      const until = performance.now() + SIGN_IN_MS;
      while (performance.now() < until && !(await page.evaluate<boolean>(IS_ANSWERED))) await Bun.sleep(20);
      return page;
    },
    async call(model, { key = own, stream = false, content = "Hello" } = {}) {
      const response = await fetch(`${books.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, stream, messages: [{ role: "user", content }] }),
      });
      const id = response.headers.get("x-request-id") ?? "";
      return { status: response.status, text: await streamedText(response), id };
    },
  };
}
