/** Shows a page when its code has come. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { Blank } from "../parts/states.tsx";
import type { OwnPage, PageProps } from "./own-page.ts";
import { Page } from "./page.tsx";

export function later({ title, load }: Pick<OwnPage, "title" | "load">): ComponentType<PageProps> {
  let Code: ComponentType<PageProps> | undefined;
  return function Later({ rest }) {
    const [failed, setFailed] = useState<boolean | undefined>();
    useEffect(() => {
      if (Code) return;
      load().then(
        (code) => {
          Code = code;
          setFailed(false);
        },
        () => setFailed(true),
      );
    }, []);
    if (Code) return <Code rest={rest} />;
    return (
      <Page title={title}>
        {failed && (
          // After an upgrade the files have other names.
          <Blank title="This page could not be loaded." alert>
            <Button onClick={() => location.reload()}>Load the console anew</Button>
          </Blank>
        )}
      </Page>
    );
  };
}
