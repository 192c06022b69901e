/** Secrets: the config refers to credentials in files, programs and stores, which may change while weir runs. */
import type { Feature } from "../../feature/feature.ts";
import { secretsCommands } from "./flags.ts";
import { STORE_KINDS, secretsSection } from "./section.ts";

export const secrets: Feature = {
  name: "secrets",
  section: secretsSection,
  references: { kinds: STORE_KINDS, load: () => import("./book.ts") },
  commands: secretsCommands,
  worker: () => import("./worker.ts"),
  keeper: () => import("./keeper.ts"),
  admin: () => import("./admin.ts"),
};
