import "swagger-ui-dist/swagger-ui.css";
import "./docs.css";
import program from "swagger-ui-dist/swagger-ui-bundle.js?url&no-inline";

declare global {
  interface Window {
    readonly SwaggerUIBundle: (options: object) => void;
  }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

/** Loaded as a separate script, because it is ten times as large as all other pages. */
const script = document.createElement("script");
script.src = program;
script.onload = () => {
  window.SwaggerUIBundle({ dom_id: "#root", url: "/docs/json", deepLinking: true, validatorUrl: null });
};
document.head.append(script);
