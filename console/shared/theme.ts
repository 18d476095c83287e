import { Button, type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";
import { StayingButton } from "./keys/staying-button.tsx";

const tide: MantineColorsTuple = [
  "#e8f6f9",
  "#d5ebf1",
  "#a9d7e2",
  "#7ac2d3",
  "#55b1c6",
  "#3da6be",
  "#2b96b0",
  "#16829b",
  "#0a6e86",
  "#005b71",
];

/** Shades with a contrast of 4.5:1 in light and dark; axe checks this in the tests. */
export const theme = createTheme({
  primaryColor: "tide",
  colors: { tide },
  primaryShade: 8,
  autoContrast: true,
  defaultRadius: "sm",
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: "600", sizes: { h1: { fontSize: "1.375rem" }, h2: { fontSize: "1.125rem" } } },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: { Button: Button.extend({ defaultProps: { component: StayingButton } }) },
});

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-text": "#1c2226",
    "--mantine-color-dimmed": "#566068",
    "--mantine-color-error": "#b42318",
    "--mantine-color-red-light-color": "#b42318",
    "--mantine-color-placeholder": "#6b747b",
  },
  dark: {
    "--mantine-color-body": "#1a1d20",
    "--mantine-color-text": "#dfe4e7",
    "--mantine-color-default": "#22262a",
    "--mantine-color-default-hover": "#2a2f34",
    "--mantine-color-default-border": "#3b4248",
    "--mantine-color-dimmed": "#a8b0b6",
    "--mantine-color-error": "#ff9b91",
    "--mantine-color-red-light-color": "#ff9b91",
    "--mantine-color-red-light-hover": "#4a1f1f",
    "--mantine-color-placeholder": "#98a1a8",
  },
});
