/** Opens stores by the kinds of references. */
import type { Environment, Store, StoreOptions } from "./store.ts";

/** Opens the store of a kind. Its code is loaded when a config names it. */
export async function openStore(kind: string, options: StoreOptions, env: Environment): Promise<Store> {
  switch (kind) {
    case "file":
      return (await import("./stores/file.ts")).fileStore;
    case "exec":
      return (await import("./stores/exec.ts")).execStore(env);
    case "vault":
      return new (await import("./stores/vault/store.ts")).VaultStore(
        options.vault ?? {},
        options.aws ?? {},
        env,
      );
    case "aws-sm":
      return (await import("./stores/aws.ts")).secretsManager(options.aws ?? {}, env);
    case "aws-ssm":
      return (await import("./stores/aws.ts")).parameterStore(options.aws ?? {}, env);
    case "gcp-sm":
      return (await import("./stores/gcp.ts")).secretManager(options.gcp ?? {}, env);
    case "azure-kv":
      return (await import("./stores/azure.ts")).keyVault(options.azure ?? {}, env);
    default:
      return (await import("./stores/k8s.ts")).kubernetesSecrets(options.kubernetes ?? {}, env);
  }
}
