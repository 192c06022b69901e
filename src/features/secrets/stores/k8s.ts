/** Secrets of Kubernetes: `namespace/name`. The service account needs the right to get them. */
import { existsSync, readFileSync } from "node:fs";
import { isObject } from "../../../core/json.ts";
import { ask, expectObject } from "../ask.ts";
import type { Environment, KubernetesOptions, Store } from "../store.ts";

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

export function kubernetesSecrets(options: KubernetesOptions, env: Environment): Store {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = env;
  const own = host === "" ? undefined : `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { server = own, tokenFile = `${FOLDER}/token`, ca = `${FOLDER}/ca.crt` } = options;
  return {
    async read(document, stop) {
      const [namespace, name, more] = document.split("/");
      if (!namespace || !name || more !== undefined) throw new Error("must be written as namespace/name#key");
      if (server === undefined) throw new Error("needs secrets.kubernetes.server outside of a cluster");
      // Kubernetes replaces both files before they expire.
      const token = readFileSync(tokenFile, "utf8").trim();
      const tls = options.ca !== undefined || existsSync(ca) ? { ca: readFileSync(ca, "utf8") } : undefined;
      const url = `${server.replace(/\/+$/, "")}/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(name)}`;
      const found = expectObject(
        await ask({ url, headers: { authorization: `Bearer ${token}` }, stop, ...(tls && { tls }) }),
      );
      const { data, metadata } = found;
      const content = Object.fromEntries(
        Object.entries(isObject(data) ? data : {}).map(([key, value]) => [
          key,
          Buffer.from(String(value), "base64").toString(),
        ]),
      );
      const version = isObject(metadata) ? metadata["resourceVersion"] : undefined;
      return { content, ...(typeof version === "string" && { version }) };
    },
  };
}
