/**
 * Replaces the process once at its start. Bun reads its limits and its `BUN_*` switches from the environment before any code
 * runs. So the only way to raise the limit of 256 concurrent requests, and to ignore variables that inject code, is to execute
 * the program again with a clean environment. The process id stays the same; it takes a few milliseconds.
 */
import { scriptArgs } from "./program.ts";

/** The raised limit of concurrent requests, the maximum that Bun accepts. */
const MAX_REQUESTS = "65336";

/** Variables that make the runtime load code, print headers or change its limits. weir removes them. */
const INJECTING = /^(BUN_.*|NODE_OPTIONS|NODE_TLS_REJECT_UNAUTHORIZED)$/;

/** The clean environment of the gateway. */
export function cleanEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !INJECTING.test(name));
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    ...loopbackDirect(env),
    BUN_CONFIG_MAX_HTTP_REQUESTS: MAX_REQUESTS,
  };
}

/** Excludes loopback addresses from the proxy. Without this, Bun sends them through it too. */
function loopbackDirect(env: Record<string, string | undefined>): Record<string, string> {
  const hasProxy = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].some((name) => env[name]);
  if (!hasProxy) return {};
  const given = env["NO_PROXY"] ?? env["no_proxy"];
  if (given?.includes("127.0.0.1")) return {};
  return { NO_PROXY: [given, "localhost,127.0.0.1,::1"].filter(Boolean).join(",") };
}

/** Whether the environment of this process is already clean, so that re-executing would change nothing. */
export function isClean(env: Record<string, string | undefined>): boolean {
  const clean = cleanEnvironment(env);
  const names = Object.keys(env).filter((name) => env[name] !== undefined);
  return names.length === Object.keys(clean).length && names.every((name) => env[name] === clean[name]);
}

/** Re-executes the program in a clean environment. Returns only if the environment is already clean. */
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
