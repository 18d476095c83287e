import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { memo, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import type { ServiceName } from "../../src/contract/console.ts";
import anchor from "./anchor.svg";
import { useKeyHelp } from "./keys/keys.tsx";
import { ServiceSwitch, useServices } from "./services.tsx";
import { useTopOfPage } from "./use-top-of-page.ts";

export type Place = { readonly to: string; readonly name: string };

/** The frame around every page: the other services, navigation, connection state, light or dark colours. */
export function Shell(props: {
  readonly service: ServiceName;
  readonly title: string;
  readonly places: readonly Place[];
  /** What the page is about, for the browser tab; the name of the place if undefined. */
  readonly subject?: string | undefined;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const [location] = useLocation();
  useTopOfPage(location);
  const others = useServices();
  const subject = props.subject ?? props.places.find(({ to }) => isAt(location, to))?.name;
  useDocumentTitle(subject === undefined ? props.title : `${subject} – ${props.title}`);
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className={others.length === 0 ? "top" : "top services-known"}>
        <Link href="/" className="brand">
          <img src={anchor} alt="" width={20} height={20} />
          {others.length === 0 ? props.title : <span className="brand-name">moor</span>}
        </Link>
        {others.length > 0 && <ServiceSwitch own={props.service} others={others} />}
        {props.places.length > 0 && (
          <nav aria-label="Pages" className="pages">
            <ul className="places">
              {props.places.map(({ to, name }) => (
                <li key={to}>
                  <Link href={to} className="place" aria-current={isAt(location, to) ? "page" : undefined}>
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        )}
        <div className="aside">
          {props.aside}
          <KeyHelpButton />
          <SchemeButton />
        </div>
      </header>
      <main className="main" id="content" tabIndex={-1} style={{ outline: "none" }}>
        {props.children}
      </main>
    </>
  );
}

const isAt = (location: string, to: string): boolean => (to === "/" ? location === "/" : location.startsWith(to));

/** Only where a keyboard is likely; the style sheet hides it on touch screens. */
const KeyHelpButton = memo(function KeyHelpButton() {
  const showHelp = useKeyHelp();
  return (
    <Tooltip label="Keyboard shortcuts (?)">
      <ActionIcon variant="subtle" color="gray" className="key-help" aria-label="Keyboard shortcuts" onClick={showHelp}>
        <span aria-hidden>?</span>
      </ActionIcon>
    </Tooltip>
  );
});

const SchemeButton = memo(function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const next = useComputedColorScheme("light") === "dark" ? "light" : "dark";
  return (
    <Tooltip label={`Switch to ${next} colours`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Switch to ${next} colours`}
        onClick={() => setColorScheme(next)}
      >
        <span aria-hidden>{next === "dark" ? "☾" : "☀"}</span>
      </ActionIcon>
    </Tooltip>
  );
});
