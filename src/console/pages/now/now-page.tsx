/** The page Now. */
import { Page } from "../../shell/page.tsx";

export function NowPage() {
  return <Page title="Now">{null}</Page>;
}
