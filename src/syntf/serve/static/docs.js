// Show the OpenAPI description without loading anything from another host.
"use strict";

function sample(schema, schemas) {
  // Make an example value for a schema.
  if (schema.$ref) return sample(schemas[schema.$ref.split("/").pop()], schemas);
  if (schema.examples) return schema.examples[0];
  const options = schema.anyOf || schema.oneOf;
  if (options) return sample(options.find((option) => option.type !== "null"), schemas);
  if (schema.type === "object") {
    const names = Object.keys(schema.properties || {});
    if (!names.length) return schema.additionalProperties?.type ? { word: sample(schema.additionalProperties, schemas) } : {};
    return Object.fromEntries(names.map((name) => [name, sample(schema.properties[name], schemas)]));
  }
  if (schema.type === "array") return [sample(schema.items, schemas)];
  return { string: "…", integer: 1, number: 0.5, boolean: true }[schema.type] ?? null;
}

function block(path, title, schema, schemas) {
  const pre = make("pre", "", JSON.stringify(sample(schema, schemas), null, 2));
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", `${title} ${path}`);
  return [make("h3", "", title), pre];
}

function card(path, verb, operation, schemas) {
  const section = make("section", "card route");
  const heading = make("h2");
  heading.append(make("span", "verb", verb.toUpperCase()), make("code", "", path));
  section.append(heading, make("p", "", operation.description || operation.summary));
  const body = operation.requestBody?.content["application/json"]?.schema;
  const shapes = body?.oneOf || body?.anyOf || (body ? [body] : []);
  shapes.forEach((shape, index) => section.append(...block(path, index ? "Or send" : "Send", shape, schemas)));
  const good = operation.responses["200"].content?.["application/json"]?.schema;
  if (good?.$ref) section.append(...block(path, "Receive", good, schemas));
  const table = make("table");
  for (const [code, { description }] of Object.entries(operation.responses)) {
    const row = make("tr");
    const name = make("th", "", code);
    name.scope = "row";
    row.append(name, make("td", "", description));
    table.append(row);
  }
  section.append(make("h3", "", "Answers"), table);
  return section;
}

async function load(token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await fetch("/openapi.json", { headers }).catch(() => null);
  get("token").hidden = !response || response.status !== 401;
  if (!response) {
    get("routes").replaceChildren(make("p", "", "The service does not answer: reload this page."));
    return;
  }
  if (!response.ok) {
    tell(token ? "The token is wrong." : "", true);
    return;
  }
  const description = await response.json();
  const schemas = description.components.schemas;
  get("token-note").hidden = !description.components.securitySchemes;
  get("routes").replaceChildren();
  for (const [path, verbs] of Object.entries(description.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      get("routes").append(card(path, verb, operation, schemas));
    }
  }
}

get("token").addEventListener("submit", (event) => {
  event.preventDefault();
  load(get("token-value").value);
});

load();
