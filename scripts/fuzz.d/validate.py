"""Checks recorded answers and the examples of a description against the description's schemas."""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator, FormatChecker


def validator(description, schema):
    """A validator for one schema, with references into the description's components."""
    return Draft202012Validator(
        {**schema, "components": description["components"]}, format_checker=FormatChecker()
    )


def examples(description):
    """The examples of schemas, parameters and request bodies, each as (name, schema, value)."""

    def dereference(value):
        while "$ref" in value:
            target = description
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            value = target
        return value

    def of_schema(name, schema):
        for value in schema.get("examples", []):
            yield name, schema, value
        for member, inner in schema.get("properties", {}).items():
            yield from of_schema(f"{name}/{member}", inner)

    for name, schema in description["components"]["schemas"].items():
        yield from of_schema(name, schema)
    for name, parameter in description["components"]["parameters"].items():
        if "example" in parameter:
            yield f"parameter {name}", parameter["schema"], parameter["example"]
    for item in description["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and "requestBody" in operation:
                content = dereference(operation["requestBody"])["content"]["application/json"]
                for name, example in content.get("examples", {}).items():
                    yield f"{operation['operationId']} {name}", content["schema"], example["value"]


def main(directory):
    faults = 0
    count = 0

    def check(description, name, schema, value):
        nonlocal faults, count
        count += 1
        for error in validator(description, schema).iter_errors(value):
            faults += 1
            print(f"not ok - {name}: {error.json_path}: {error.message[:300]}")

    files = sorted(pathlib.Path(directory).glob("*.json"))
    if not files:
        sys.exit(f"scripts/validate: no recorded descriptions in {directory}")
    for file in files:
        description = json.loads(file.read_text())
        for schema in description["components"]["schemas"].values():
            Draft202012Validator.check_schema(schema)
        before = count
        for name, schema, value in examples(description):
            check(description, f"{file.stem}: example {name}", schema, value)
        if count == before:
            sys.exit(f"scripts/validate: {file} has no examples")
        with file.with_suffix(".jsonl").open() as lines:
            for line in lines:
                answer = json.loads(line)
                for pair in answer["values"]:
                    check(description, f"{file.stem}: {answer['name']}", pair["schema"], pair["value"])
    if faults == 0:
        print(f"ok - {count} values fit the description's schemas")
    sys.exit(1 if faults else 0)


main(sys.argv[1])
