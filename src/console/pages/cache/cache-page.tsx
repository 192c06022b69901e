/** The page Cache. */
import { Page } from "../../shell/page.tsx";

export function CachePage() {
  return <Page title="Cache">{null}</Page>;
}
