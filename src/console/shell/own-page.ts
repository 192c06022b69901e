/** A page whose code is loaded when somebody opens it. */
import type { ComponentType } from "preact";
import type { CallEntry } from "../data/types.ts";
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
  /** It has no page without a rest: the menu and the palette do not name it. */
  isInner?: true;
  /** What of this page a call offers. */
  ofCall?(call: CallEntry & { captured?: true }): readonly OwnDeed[];
  load(): Promise<ComponentType<PageProps>>;
}

/** A link to the page of a feature. */
export interface OwnDeed {
  name: string;
  rest: string;
  /** Why it cannot be done. */
  why?: string;
}
