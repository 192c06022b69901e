/** nginx with the file of the repository, and the addresses, the port and the certificate of a test. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIRST } from "./certificates.ts";
import { environmentIn } from "./environment.ts";
import { DEPLOY } from "./manifests.ts";
import { freePort } from "./serving.ts";

/** Path of the program; Debian installs it where only root looks. */
export const nginx = Bun.which("nginx") ?? Bun.which("/usr/sbin/nginx");

export interface Nginx {
  url: string;
  port: number;
  /** What nginx wrote about gateways that refused or broke a connection. */
  errors(): string[];
  stop(): Promise<void>;
}

/**
 * @param ports of two gateways on 127.0.0.1 @param tls whether it takes connections with TLS, as in the file
 * @param how `port`: where it listens; default: a free one. `beside`: more of the server's part
 * @throws Error where nginx finds a fault in the file
 */
export function startNginx(
  ports: readonly number[],
  tls = true,
  { port = freePort(), beside = "" }: { port?: number; beside?: string } = {},
): Nginx {
  const folder = mkdtempSync(join(tmpdir(), "weir-nginx-"));
  mkdirSync(join(folder, "tls"));
  writeFileSync(join(folder, "tls/cert.pem"), FIRST.cert);
  writeFileSync(join(folder, "tls/key.pem"), FIRST.key);
  const text = readFileSync(join(DEPLOY, "nginx.conf"), "utf8")
    .replace("127.0.0.1:9347", `127.0.0.1:${ports[0]}`)
    .replace("127.0.0.1:9357", `127.0.0.1:${ports[1]}`)
    .replace("listen 443 ssl", `listen 127.0.0.1:${port}${tls ? " ssl" : ""}`)
    .replace("    location / {", () => `${beside}    location / {`)
    .replaceAll("/etc/nginx/tls", join(folder, "tls"));
  writeFileSync(join(folder, "weir.conf"), text);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const log = join(folder, "error.log");
  const main = `pid ${folder}/pid; error_log ${log}; worker_processes 1; daemon off; events {} http { access_log off; ${paths.join(" ")} include ${folder}/weir.conf; }`;
  writeFileSync(join(folder, "nginx.conf"), main);
  const flags = ["-p", folder, "-c", join(folder, "nginx.conf")];
  const env = environmentIn(folder);
  const judged = Bun.spawnSync([nginx!, "-t", ...flags], { env });
  const said = judged.stderr.toString();
  if (judged.exitCode !== 0 || /warn|emerg/.test(said)) throw new Error(said);
  const proxy = Bun.spawn([nginx!, ...flags], { env, stdout: "ignore", stderr: "ignore" });
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    errors: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => /\[(error|crit|alert)\]/.test(line)),
    async stop() {
      proxy.kill();
      await proxy.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
