"""generate_reference.py PACKAGE [--missing]: docs/python_api.md, out of the docstrings of the package that is put together in PACKAGE.

Everything public is what `tilewright.__all__` names, with its public members. `--missing` lists what has no docstring instead.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HEADER = """# The Python package, name by name

Made of the docstrings; after a change to one, `build/venv/bin/python python/generate_reference.py build/dev/python/tilewright > docs/python_api.md`.
[python.md](python.md) is the guide. Options that functions take as keywords are those of the verbs in [options.md](options.md), with
underscores for hyphens; `from` is `from_`.
"""


def trees(package: Path) -> dict[str, ast.Module]:
    """Every module by its name: the extension by its stubs, all others by their source."""
    files = [*package.glob("*.py"), *(package / "gym").glob("*.py"), package / "_core.pyi"]
    return {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def public_names(tree: ast.Module) -> list[str]:
    """What a module's __all__ names."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [ast.literal_eval(item) for item in node.value.elts]  # type: ignore[attr-defined]
    return []


def definition(name: str, modules: dict[str, ast.Module]) -> ast.AST | None:
    """Where a name is defined; a variable by its assignment."""
    for tree in modules.values():
        for place, node in enumerate(tree.body):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return node
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                following = tree.body[place + 1] if place + 1 < len(tree.body) else None
                return following if isinstance(following, ast.Expr) else node
    return None


def doc_of(node: ast.AST) -> str:
    """The docstring, without the indentation it stands in."""
    if isinstance(node, ast.Expr):
        return str(ast.literal_eval(node.value)).strip()
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.Module)):
        return (ast.get_docstring(node) or "").strip()
    return ""


def signature(node: ast.FunctionDef) -> str:
    """The name with its arguments; a property with its type."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if any(ast.unparse(decorator) == "property" for decorator in node.decorator_list):
        return f"{node.name}{returns.replace(' -> ', ': ')}"
    arguments = ast.unparse(node.args)
    for own in ("self, /, ", "self, /", "self, ", "self"):
        if arguments == own.strip(", ") or arguments.startswith(own):
            arguments = arguments[len(own) :]
            break
    return f"{node.name}({arguments}){returns}"


def is_public(node: ast.AST) -> bool:
    """Methods and properties that people call; a constructor counts as one."""
    return isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__")


def members(node: ast.ClassDef) -> list[tuple[str, str]]:
    """(signature, docstring) of every public member, overloads once; fields with the string after them."""
    found: list[tuple[str, str]] = []
    for place, child in enumerate(node.body):
        if is_public(child):
            assert isinstance(child, ast.FunctionDef)
            found.append((signature(child), doc_of(child)))
        elif isinstance(child, ast.AnnAssign) and not ast.unparse(child.target).startswith("_"):
            following = node.body[place + 1] if place + 1 < len(node.body) else None
            text = doc_of(following) if isinstance(following, ast.Expr) else ""
            found.append((f"{ast.unparse(child.target)}: {ast.unparse(child.annotation)}", text))
    return found


def described(text: str) -> str:
    """A docstring as Markdown: what is indented keeps its form."""
    lines = [f"    {line[4:]}" if line.startswith("    ") else line for line in text.splitlines()]
    return "\n".join(lines)


def section(name: str, node: ast.AST, level: str, missing: list[str]) -> str:
    """What the page says of a class, a function or a variable."""
    page = f"\n{level} `{name}`\n\n"
    if isinstance(node, ast.FunctionDef):
        page += f"**`{signature(node)}`**\n\n"
    page += f"{described(doc_of(node))}\n"
    for title, meaning in members(node) if isinstance(node, ast.ClassDef) else []:
        if not meaning and not title.startswith("__init__"):
            missing.append(f"{name}.{title}")
        page += f"\n**`{title.replace('__init__', name)}`**\n" + (f"\n{described(meaning)}\n" if meaning else "")
    return page


def main() -> int:
    """Prints the page, or what is missing from it."""
    modules = trees(Path(sys.argv[1]))
    missing, page = [], HEADER
    for name in public_names(modules["__init__"]):
        node = modules.get(name) or definition(name, modules)
        if name in ("__version__", "version"):
            continue
        if node is None:
            missing.append(name)
            continue
        text = doc_of(node)
        missing += [] if text else [name]
        if isinstance(node, ast.Module):
            page += f"\n## `tilewright.{name}`\n\n{described(text)}\n"
            for inner in public_names(node):
                inside = definition(inner, {name: node})
                if inside is not None and inner not in public_names(modules["__init__"]):
                    page += section(f"{name}.{inner}", inside, "###", missing)
        else:
            page += section(name, node, "##", missing)
    print("\n".join(missing) if "--missing" in sys.argv else page.rstrip("\n"))
    return 1 if "--missing" in sys.argv and missing else 0


if __name__ == "__main__":
    sys.exit(main())
