import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import anchor from "./anchor.svg";

export type Place = { readonly to: string; readonly name: string };

/** The frame around every page: navigation, connection state, light or dark colours. */
export function Shell(props: {
  readonly title: string;
  readonly places: readonly Place[];
  /** What the page is about, for the browser tab; the name of the place if undefined. */
  readonly subject?: string | undefined;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const [location] = useLocation();
  const subject = props.subject ?? props.places.find(({ to }) => isAt(location, to))?.name;
  useDocumentTitle(subject === undefined ? props.title : `${subject} – ${props.title}`);
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <img src={anchor} alt="" width={20} height={20} />
          {props.title}
        </Link>
        {props.places.length > 0 && (
          <nav aria-label="Pages">
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
          <SchemeButton />
        </div>
      </header>
      <main className="main" id="content" tabIndex={-1} style={{ outline: "none" }}>
        {props.children}
      </main>
    </>
  );
}

const isAt = (location: string, to: string): boolean =>
  to === "/" ? location === "/" || location.startsWith("/zones") : location.startsWith(to);

function SchemeButton() {
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
}
