// What `require` gives and what `import` gives must be the same classes, or injection by class fails between two packages.
const names = process.argv.slice(2);
const required = Object.fromEntries(names.map((name) => [name, require(name)]));
void Promise.all(names.map((name) => import(name))).then((imported) => {
  const different = names.flatMap((name, at) =>
    Object.keys(required[name])
      .filter((key) => required[name][key] !== imported[at][key])
      .map((key) => `${name} ${key}`),
  );
  console.log(JSON.stringify({ compared: Object.keys(required[names[0]]).length, different }));
});
