/**
 * The one replacement of the process at its start: Bun reads its limits and its `BUN_*`
 * switches from the real environment before any code runs, so the only way to lift the cap of 256 requests at once, and
 * to be rid of what the surroundings inject, is to begin again with a clean environment. Same process id, a few
 * milliseconds.
 */
import { scriptArgs } from "./program.ts";

/** The lifted cap; the largest number Bun takes. */
const MAX_REQUESTS = "65336";

/** Variables that make the runtime load code, print headers or change its limits. */
const INJECTING = /^(BUN_.*|NODE_OPTIONS|NODE_TLS_REJECT_UNAUTHORIZED)$/;

/** The environment the gateway runs in. */
export function cleanEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !INJECTING.test(name));
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    ...loopbackDirect(env),
    BUN_CONFIG_MAX_HTTP_REQUESTS: MAX_REQUESTS,
  };
}

/** A proxy is for what is far away: Bun would send even loopback addresses through it. */
function loopbackDirect(env: Record<string, string | undefined>): Record<string, string> {
  const hasProxy = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].some((name) => env[name]);
  if (!hasProxy) return {};
  const given = env["NO_PROXY"] ?? env["no_proxy"];
  if (given?.includes("127.0.0.1")) return {};
  return { NO_PROXY: [given, "localhost,127.0.0.1,::1"].filter(Boolean).join(",") };
}

/** Whether this process already runs in the clean environment; replacing it again would change nothing. */
export function isClean(env: Record<string, string | undefined>): boolean {
  const clean = cleanEnvironment(env);
  const names = Object.keys(env).filter((name) => env[name] !== undefined);
  return names.length === Object.keys(clean).length && names.every((name) => env[name] === clean[name]);
}

/** Begins again in a clean environment; returns only when that has happened already. */
export function replaceProcess(): void {
  if (isClean(process.env)) return;
  const env = cleanEnvironment(process.env);
  const args = [...scriptArgs(), ...process.argv.slice(2)];
  if (typeof process.execve === "function" && process.platform !== "win32") {
    process.execve(process.execPath, [process.execPath, ...args], env);
  }
  const child = Bun.spawnSync([process.execPath, ...args], { env, stdio: ["inherit", "inherit", "inherit"] });
  process.exit(child.exitCode ?? 1);
}
