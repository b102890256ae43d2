# SPDX-License-Identifier: MIT
"""Params of the JSON contract as messages of proto/clusterd/v1, and messages of answers as JSON, by their descriptors.

Written from the comments of the .proto file, and so independently of how the daemon does the same.
"""
import base64
import json
import re

# Words and members that are not named like their value or field.
WORDS = {
    "TILE_ENCODING_FEATURES": "json", "SERVING_STATUS_SERVING": "SERVING", "SERVING_STATUS_NOT_SERVING": "NOT_SERVING",
    "METHOD_KIND_CLIENT_STREAM": "client stream", "METHOD_KIND_SERVER_STREAM": "server stream",
}
RENAMED = {"type": "expectedType", "projection": "planar"}
# Messages whose members are, in JSON, those of the object that has them.
FLATTENED = {"view", "table", "description"}


class Unsayable(NotImplementedError):
    """What JSON can say and a message cannot."""


def camel(name):
    return re.sub("_(.)", lambda found: found[1].upper(), name.lower())


def word(value):
    """The word of an enumeration's value in JSON."""
    prefix = value.type.values[0].name.replace("UNSPECIFIED", "")
    return WORDS.get(value.name) or camel(value.name[len(prefix):])


# Params


def fill(message, params):
    """Sets the fields of a message from an object."""
    message.SetInParent()
    for member, value in params.items():
        put(message, member, value)


def put(message, member, value):
    fields = message.DESCRIPTOR.fields_by_camelcase_name
    name = RENAMED.get(member, member)
    field, text = fields.get(name), fields.get(name + "Json")
    if text is not None and (field is None or not isinstance(value, (int, float))):
        setattr(message, text.name, json.dumps(value, ensure_ascii=False))
    elif field is not None:
        try:
            set_field(message, field, value)
        except (TypeError, ValueError, AttributeError) as error:
            raise Unsayable(f"{member} has another type in {message.DESCRIPTOR.name}: {error}") from None
    else:
        inner = next((each for each in message.DESCRIPTOR.fields if each.name in FLATTENED and each.message_type), None)
        if inner is None:
            raise Unsayable(f"{message.DESCRIPTOR.name} has no field for {member}")
        put(getattr(message, inner.name), member, value)


def set_field(message, field, value):
    part, kind = getattr(message, field.name), field.message_type and field.message_type.name
    if kind == "NewFeature":
        for feature in value:
            set_feature(part.add(), feature)
    elif kind == "FeatureId" and field.label == field.LABEL_REPEATED:
        for identifier in value:
            set_identifier(part.add(), identifier)
    elif kind == "FeatureId":
        set_identifier(part, value)
    elif kind == "BoundingBox":
        edges = value["planar"] if field.name == "planar" else value
        for edge, number in zip(part.DESCRIPTOR.fields, edges, strict=True):
            setattr(part, edge.name, number)
    elif kind == "NamedExpression":
        for name, expression in value.items():
            part.add(name=name, expression_json=json.dumps(expression, ensure_ascii=False))
    elif kind == "View":
        for name, options in value.items():
            view = part.add(name=name, left_out=[each for each in options if options[each] is None])
            fill(view.options, {each: options[each] for each in options if options[each] is not None})
    elif kind == "Window":
        for name, (lower, upper) in (value or {}).items():
            part.property = name
            for edge, number in (("lower", lower), ("upper", upper)):
                if number is not None:
                    setattr(part, edge, number)
        part.SetInParent()
    elif kind and isinstance(value, list):
        part.SetInParent()
        set_field(part, part.DESCRIPTOR.fields[0], value)
    elif kind:
        fill(part, value)
    elif field.enum_type:
        numbers = {word(each): each.number for each in field.enum_type.values if each.number}
        if field.label == field.LABEL_REPEATED:
            part.extend(numbers[each] for each in value)
        elif value in numbers:
            setattr(message, field.name, numbers[value])
        else:
            raise Unsayable(f"{field.enum_type.name} has no value {value}")
    elif field.label == field.LABEL_REPEATED:
        part.extend(value)
    else:
        setattr(message, field.name, value)


def set_identifier(message, value):
    if isinstance(value, str):
        message.text = value
    elif isinstance(value, int) and value < 1 << 63:
        message.integer = value
    elif isinstance(value, int):
        message.unsigned_integer = value
    else:
        message.number = value


def set_feature(message, feature):
    """Sets a NewFeature from GeoJSON."""
    rest = {name: value for name, value in feature.items() if name not in ("type", "id", "geometry", "properties")}
    if "id" in feature:
        set_identifier(message.id, feature["id"])
    geometry, properties = feature["geometry"], feature.get("properties")
    if geometry["type"] == "Point":
        longitude, latitude, *further = geometry["coordinates"]
        message.position.longitude, message.position.latitude = longitude, latitude
        message.position.further.extend(further)
    else:
        message.geometry_json = json.dumps(geometry)
    if properties is not None:
        message.properties_json = json.dumps(properties)
    if rest:
        message.members_json = json.dumps(rest)


# Answers


def answer(message, transitions=False):
    """The JSON object that a message stands for.

    With transitions, markers that a watch removes are objects; otherwise they are keys.
    """
    made = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            continue
        part = getattr(message, field.name)
        if field.name in FLATTENED and field.message_type:
            made.update(answer(part))
        elif field.message_type and field.message_type.GetOptions().map_entry:
            made[field.json_name] = dict(part)
        elif field.message_type and field.message_type.name == "NamedExpression":
            made[field.json_name] = {each.name: json.loads(each.expression_json) for each in part}
        elif field.message_type and field.message_type.name == "View":
            made[field.json_name] = {
                each.name: {**answer(each.options), **dict.fromkeys(each.left_out)} for each in part}
        elif field.name.endswith("_json"):
            if part:
                made[field.json_name.removesuffix("Json")] = json.loads(part)
        elif field.label == field.LABEL_REPEATED:
            made[field.json_name] = [single(field, each, transitions) for each in part]
        elif not field.enum_type or part:
            made[field.json_name] = single(field, part, transitions)
    if message.DESCRIPTOR.name == "GetGridResponse":
        columns = zip(made.pop("x"), made.pop("y"), made.pop("pointCounts"), strict=True)
        made["cells"] = [{"x": x, "y": y, "point_count": count} for x, y, count in columns]
    features = message.DESCRIPTOR.fields_by_name.get("features")
    if features and features.message_type and features.message_type.name == "Feature":
        made["type"] = "FeatureCollection"
    return made


def single(field, value, transitions):
    if field.enum_type:
        return word(field.enum_type.values_by_number[value])
    if field.type == field.TYPE_BYTES:
        return base64.b64encode(value).decode()
    kind = field.message_type and field.message_type.name
    if kind == "Feature":
        return geojson(value)
    if kind == "BoundingBox":
        return [value.west, value.south, value.east, value.north]
    if kind == "RemovedMarker":
        into = {"into": value.into_key} if value.HasField("into_key") else {}
        return {"key": value.key, **into} if transitions else value.key
    return answer(value) if kind else value


def geojson(feature):
    """A marker as GeoJSON."""
    made = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [feature.longitude, feature.latitude]}}
    if feature.HasField("cluster"):
        cluster = feature.cluster
        made["id"] = cluster.id
        built_in = {"cluster": True, "cluster_id": cluster.id, "point_count": cluster.point_count}
        if cluster.HasField("total_count"):
            built_in["total_count"] = cluster.total_count
        if cluster.HasField("top"):
            top = geojson(cluster.top)
            built_in["top"] = {**{name: top[name] for name in ("id", "properties")}, **top["geometry"]}
        made["properties"] = {**json.loads(cluster.properties_json or "{}"), **built_in}
    else:
        point = feature.point
        if point.HasField("id"):
            made["id"] = getattr(point.id, point.id.WhichOneof("kind"))
        made["properties"] = json.loads(point.properties_json or "null")
        if point.pinned:
            made["properties"] = {**(made["properties"] or {}), "pinned": True}
        made["geometry"]["coordinates"] += point.further
        made.update(json.loads(point.members_json or "{}"))
    if feature.key:
        made["key"] = feature.key
    if feature.HasField("from_key"):
        made["from"] = feature.from_key
    return made
