/** Files, as Docker and Kubernetes mount them. */
import { statSync } from "node:fs";
import { readSecretFile } from "../../../config/substitute.ts";
import type { Store } from "../store.ts";

export const fileStore: Store = {
  read(path) {
    try {
      const content = readSecretFile(path, path, (clause) => new Error(clause));
      return Promise.resolve({ content, version: new Date(statSync(path).mtimeMs).toISOString() });
    } catch (cause) {
      return Promise.reject(cause as Error);
    }
  },
};
