/** Response cache: a request of the same meaning is answered from memory, without a provider and for free. */
import type { Feature } from "../../feature/feature.ts";
import { cacheHeader } from "./headers.ts";
import { cacheSection } from "./section.ts";

export const responseCache: Feature = {
  name: "response-cache",
  section: cacheSection,
  headers: [cacheHeader],
  plugin: () => import("./plugin.ts"),
};
