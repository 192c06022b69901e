/** The manifest of rehearse. */
import type { Feature } from "../../feature/feature.ts";
import { rehearseSection } from "./section.ts";

export const rehearse: Feature = {
  name: "rehearse",
  section: rehearseSection,
};
