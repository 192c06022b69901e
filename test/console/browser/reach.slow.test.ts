/** The console by the ways that people reach it: another local port, a proxy that replaces the Host header, a name that is not listed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SignInLink } from "../../../src/operator/index.ts";
import { environmentIn } from "../../helpers/environment.ts";
import { nginx } from "../../helpers/nginx.ts";
import { freePort } from "../../helpers/serving.ts";
import { type Browser, missingChromium, startBrowser } from "../browser.ts";
import { type Stage, startStage } from "../stage.ts";

setDefaultTimeout(120_000);

const missing = missingChromium ?? (nginx === null ? "nginx is not installed" : undefined);
const PAGE = { accept: "text/html,application/xhtml+xml" };

describe.skipIf(missing !== undefined)(`the console is reached (${missing ?? "present"})`, () => {
  let browser: Browser;
  let stage: Stage;

  beforeAll(async () => {
    const admin = { port: freePort(), names: ["ops.example"] };
    [browser, stage] = await Promise.all([
      startBrowser(),
      startStage({ seed: { calls: 50, days: 2 }, config: { admin } }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await stage?.end();
  });

  /** Signs in at another address of the listener, and reads figures. */
  async function works(origin: string, at = stage): Promise<void> {
    const { url } = await at.api.send<SignInLink>("POST", "/session/link");
    const page = await browser.open(`${origin}/console/calls?range=7d${new URL(url).hash}`, {
      isolated: true,
    });
    await page.waitFor(`document.querySelector("main tr[data-id]")`);
    expect(page.faults).toEqual([]);
    // A page that is loaded when it is opened, and back.
    await page.click(".nav a[title=Cache]");
    await page.waitForText("Providers cache the beginning of a prompt");
    expect(await page.evaluate<string>("location.pathname")).toEndWith("/console/cache");
    // A change, which the browser sends with the origin of the page.
    const status = await page.evaluate<number>(
      `fetch(location.pathname.replace(/\\/console.*/, "") + "/admin/v1/session", { method: "DELETE", headers: { "x-weir-console": "1" } }).then(({ status }) => status)`,
    );
    expect(status).toBeLessThan(300);
    await page.close();
  }

  test("S18: by another local port, as ssh -L, docker -p and kubectl port-forward give one", async () => {
    const { port } = new URL(stage.admin.url);
    const relay = startRelay(Number(port));
    try {
      for (const host of ["127.0.0.1", "localhost"]) await works(`http://${host}:${relay.port}`);
    } finally {
      relay.stop();
    }
  });

  test("S18: through nginx, which replaces the Host header or keeps it", async () => {
    for (const host of ["$proxy_host", "$http_host"]) {
      const proxy = await startProxy(stage.admin.url, host);
      try {
        await works(`http://team.localhost:${proxy.port}`);
      } finally {
        await proxy.stop();
      }
    }
  });

  test("S18: at a path of a proxy, which removes it or leaves it: admin.base", async () => {
    const below = await startStage({
      seed: { calls: 50, days: 2 },
      config: { admin: { port: freePort(), base: "/tools/weir" } },
    });
    for (const to of [below.admin.url, `${below.admin.url}/`]) {
      const proxy = await startProxy(to, "$http_host", "/tools/weir/");
      try {
        await works(`http://127.0.0.1:${proxy.port}/tools/weir`, below);
        // What is beside the path belongs to others.
        expect((await fetch(`http://127.0.0.1:${proxy.port}/console`)).ok).toBe(false);
      } finally {
        await proxy.stop();
      }
    }
    await below.end();
  });

  test("S18: a name that is not listed gets a page that names the option, and no console", async () => {
    const ask = (host: string, headers: Record<string, string>, path = "/console") =>
      fetch(`${stage.admin.url}${path}`, { headers: { ...headers, host } });
    const refused = await ask("weir.corp.example:8443", PAGE);
    expect([refused.status, refused.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
    expect(refused.headers.get("content-security-policy")).toStartWith("default-src 'none'");
    const text = await refused.text();
    expect(text).toContain("names: [weir.corp.example]");
    expect(text).not.toContain("<script");
    const api = await ask("weir.corp.example", { accept: "*/*" }, "/admin/v1/calls");
    expect(api.status).toBe(403);
    expect(((await api.json()) as { error: { code: string } }).error.code).toBe("host_not_allowed");
    const known = await ask("ops.example", PAGE);
    expect(known.status).toBe(200);
    expect(await known.text()).toContain("<script");
  });
});

/** Passes bytes on, as a tunnel does. */
function startRelay(to: number): { port: number; stop(): void } {
  interface Ends {
    other?: Bun.Socket<Ends>;
    early: Uint8Array[];
  }
  const pass = (socket: Bun.Socket<Ends>, bytes: Uint8Array) => {
    if (socket.data.other) socket.data.other.write(bytes);
    else socket.data.early.push(Uint8Array.from(bytes));
  };
  const close = (socket: Bun.Socket<Ends>) => void socket.data.other?.end();
  const listener = Bun.listen<Ends>({
    hostname: "0.0.0.0",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { early: [] };
        void Bun.connect<Ends>({
          hostname: "127.0.0.1",
          port: to,
          data: { other: socket, early: [] },
          socket: {
            open: (other) => {
              for (const bytes of socket.data.early.splice(0)) other.write(bytes);
              socket.data.other = other;
            },
            data: pass,
            close,
          },
        });
      },
      data: pass,
      close,
    },
  });
  return { port: listener.port, stop: () => listener.stop(true) };
}

/** @param host what nginx sends as the Host header @param path of nginx; with a `/` at the end of `to` nginx removes it */
async function startProxy(
  to: string,
  host: string,
  path = "/",
): Promise<{ port: number; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "weir-reach-"));
  const port = freePort();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; daemon off; events {}
     http { access_log off; ${paths.join(" ")}
       server { listen 127.0.0.1:${port};
         location ${path} { proxy_pass ${to}; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Host ${host}; } } }`,
  );
  const proxy = Bun.spawn([nginx!, "-p", folder, "-c", join(folder, "nginx.conf")], {
    ...{ env: environmentIn(folder), stdout: "ignore" as const, stderr: "ignore" as const },
  });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < 100 && !(await answers()); tries++) await Bun.sleep(50);
  return {
    port,
    async stop() {
      proxy.kill();
      await proxy.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
