/** A page whose code is loaded when somebody opens it. */
import type { ComponentType } from "preact";
import type { IconName } from "../parts/icons.tsx";

export interface PageProps {
  /** The part of the path below the page: the id in `/calls/req_…`; empty on the page itself. */
  rest: string;
}

/** The page of a feature. */
export interface OwnPage {
  path: string;
  title: string;
  icon: IconName;
  load(): Promise<ComponentType<PageProps>>;
}
