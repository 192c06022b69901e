/** The manifests for Kubernetes: as files, and as the config and the command that they start. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { ROOT } from "./documents.ts";
import { Volume } from "./volume.ts";

export const DEPLOY = join(ROOT, ".github/deploy");
export const PLAIN = join(DEPLOY, "kubernetes");

/** A resource of Kubernetes, as far as tests look into it. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  // The shapes differ by kind, and the judges of the manifests know them.
  spec: any;
}

/** @param text one or several documents */
export function resourcesOf(text: string): Resource[] {
  return parseAllDocuments(text).flatMap((document) => {
    const value = document.toJS() as Resource | null;
    return value === null ? [] : [value];
  });
}

/** The plain manifests, by the names of their files. */
export function plainManifests(): Map<string, Resource> {
  const files = (readdirSync(PLAIN, { recursive: true }) as string[]).filter(
    (name) => name.endsWith(".yaml") && name !== "kustomization.yaml",
  );
  return new Map(
    files.sort().flatMap((name) => {
      const [resource] = resourcesOf(readFileSync(join(PLAIN, name), "utf8"));
      return resource ? [[name, resource]] : [];
    }),
  );
}

export function ofKind(resources: Iterable<Resource>, kind: string): Resource {
  const found = [...resources].find((resource) => resource.kind === kind);
  if (!found) throw new Error(`There is no ${kind}.`);
  return found;
}

/** A pod on this machine: its volumes are folders, and the paths of its command lead to them. */
export interface LocalPod {
  config: Volume;
  secrets: Volume;
  /** The arguments of the container. */
  args: string[];
  env: Record<string, string>;
}

/**
 * @param folder where the volumes are made
 * @param secrets values of the secret
 * @param options `change` edits weir.yaml; `group` is that of the files of the secret, which else belong to this user
 */
export function localPod(
  resources: Iterable<Resource>,
  folder: string,
  secrets: Record<string, string>,
  { change = (text) => text, group }: { change?: (text: string) => string; group?: number } = {},
): LocalPod {
  const all = [...resources];
  const { containers, volumes } = ofKind(all, "Deployment").spec.template.spec;
  const [container] = containers;
  const paths = new Map<string, string>(
    container.volumeMounts.map(({ name, mountPath }: { name: string; mountPath: string }) => [
      name,
      mountPath,
    ]),
  );
  const at = (name: string) => join(folder, paths.get(name)!);
  for (const { name, emptyDir } of volumes) if (emptyDir) mkdirSync(at(name), { recursive: true });
  const texts = ofKind(all, "ConfigMap").data!;
  const config = new Volume(at("config"), { ...texts, "weir.yaml": change(texts["weir.yaml"]!) });
  const { secret } = volumes.find(({ name }: { name: string }) => name === "secrets");
  const volume = new Volume(at("secrets"), secrets, {
    mode: secret.defaultMode,
    ...(group !== undefined && { group }),
  });
  const local = (text: string) =>
    [...paths.values()].some((path) => text.startsWith(path)) ? folder + text : text;
  const written = (container.env ?? []) as { name: string; value?: string }[];
  return {
    ...{ config, secrets: volume },
    args: (container.args as string[]).map(local),
    // What the cluster sets, and what the image says.
    env: {
      KUBERNETES_SERVICE_HOST: "10.96.0.1",
      WEIR_HOST: "0.0.0.0",
      ...Object.fromEntries(written.map(({ name, value }) => [name, value ?? ""])),
    },
  };
}
