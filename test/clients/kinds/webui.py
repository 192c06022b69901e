"""Speech, transcriptions and images by the functions of Open WebUI's backend that ask for them, taken from its package by name."""

import __future__
import ast
import asyncio
import base64
import io
import json
import logging
import mimetypes
import os
import re
import sys
import types
import uuid
from pathlib import Path

import aiohttp
from PIL import Image
from promises import FOLDER, KEY, URL, check_all

ROUTERS = Path(FOLDER) / "open_webui/routers"
FILES = Path(FOLDER) / "webui-files"
FILES.mkdir(exist_ok=True)
# mock/image draws a whole picture of 8 by 8.
EDGE = 8


class Refused(Exception):
    """What Open WebUI's own exceptions of HTTP become."""

    def __init__(self, status_code=500, detail=""):
        super().__init__(f"{status_code} {detail}")


class Opened:
    """A file as aiofiles has it."""

    def __init__(self, path, mode="r"):
        self.file = open(path, mode)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.file.close()

    async def read(self, size=-1):
        return self.file.read(size)

    async def write(self, data):
        return self.file.write(data)


SETTINGS = {
    "audio.tts.model": "mock/speech",
    "audio.tts.voice": "alloy",
    "audio.tts.openai.params": {"response_format": "wav"},
    "audio.tts.openai.api_key": KEY,
    "audio.tts.openai.api_base_url": f"{URL}/v1",
    "audio.stt.model": "mock/transcription",
    "audio.stt.openai.api_key": KEY,
    "audio.stt.openai.api_base_url": f"{URL}/v1",
}


async def setting(name):
    return SETTINGS.get(name)


def image_settings():
    mine = {"ENGINE": "openai", "MODEL": "mock/image", "OPENAI_API_BASE_URL": f"{URL}/v1", "OPENAI_API_KEY": KEY}
    named = {
        "IMAGE_SIZE": "1024x1024", "IMAGE_GENERATION_ENGINE": mine["ENGINE"], "IMAGE_GENERATION_MODEL": mine["MODEL"],
        "IMAGE_EDIT_ENGINE": mine["ENGINE"], "IMAGE_EDIT_MODEL": mine["MODEL"], "IMAGE_EDIT_SIZE": "",
        "IMAGES_OPENAI_API_VERSION": "", "IMAGES_EDIT_OPENAI_API_VERSION": "", "IMAGES_OPENAI_API_PARAMS": {},
    }
    for part in ("IMAGES", "IMAGES_EDIT"):
        named |= {f"{part}_OPENAI_API_BASE_URL": mine["OPENAI_API_BASE_URL"], f"{part}_OPENAI_API_KEY": KEY}
    return types.SimpleNamespace(**named)


def name_of(node):
    return getattr(node.targets[0], "id", None) if isinstance(node, ast.Assign) else getattr(node, "name", None)


def taken(path, *names):
    """Functions and constants of a module without the module: it imports the whole backend."""
    tree = ast.parse(path.read_text())
    found = [node for node in tree.body if name_of(node) in names]
    for node in found:
        if isinstance(node, ast.Assign):
            continue
        node.decorator_list = []
        # Defaults that the framework resolves.
        node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    flags = __future__.annotations.compiler_flag
    session = None

    async def get_session():
        nonlocal session
        if session is None or session.closed:
            session = aiohttp.ClientSession()
        return session

    async def answered(value):
        return value

    stored = []

    async def upload_image(_request, data, content_type, _metadata, _user):
        stored.append((data, content_type))
        return None, {"bytes": len(data), "type": content_type}

    around = {
        "asyncio": asyncio, "aiohttp": aiohttp, "base64": base64, "io": io, "json": json, "os": os, "re": re,
        "mimetypes": mimetypes, "uuid": uuid, "Image": Image, "aiofiles": types.SimpleNamespace(open=Opened),
        "log": logging.getLogger("webui"), "Config": types.SimpleNamespace(get=setting), "JSONCodec": json,
        "HTTPException": Refused, "FileResponse": lambda path, media_type=None: (path, media_type), "USE_SLIM": True,
        "ENABLE_FORWARD_USER_INFO_HEADERS": False, "AIOHTTP_CLIENT_SESSION_SSL": True, "AIOHTTP_FILE_STREAM_CHUNK_SIZE": 1000,
        "IMAGE_URL_RESPONSE_MODELS_REGEX_PATTERN": r"^gpt-image", "ENABLE_OPENAI_IMAGE_EDIT_NORMALIZATION": False,
        "get_session": get_session, "get_image_config": lambda: answered(image_settings()),
        "get_image_model": lambda _: answered("mock/image"), "upload_image": upload_image, "stored": stored,
        "ERROR_MESSAGES": types.SimpleNamespace(DEFAULT=lambda *said: " ".join(map(str, said))),
    }
    exec(compile(ast.fix_missing_locations(ast.Module(found, [])), str(path), "exec", flags, True), around)
    missing = [name for name in names if name not in around]
    assert not missing, f"Open WebUI has no {missing}"
    return around


async def ended(around, work):
    try:
        return await work
    finally:
        await (await around["get_session"]()).close()


AUDIO = ROUTERS / "audio/__init__.py"


def speak():
    around = taken(AUDIO, "_tts_openai", "_write_tts_cache", "_raise_tts_error")
    path = FILES / "said.wav"
    asked = around["_tts_openai"](None, {"input": "Hello from Open WebUI."}, path, FILES / "said.json", None)
    _, kind = asyncio.run(ended(around, asked))
    return path.read_bytes()[:4] == b"RIFF" and kind == "audio/wav", f"{path.stat().st_size} bytes, {kind}"


def transcribe():
    around = taken(AUDIO, "_transcribe_openai")
    asked = around["_transcribe_openai"](None, str(FILES / "said.wav"), "said.wav", ["en"], str(FILES), "heard")
    data = asyncio.run(ended(around, asked))
    return json.loads((FILES / "heard.json").read_text()) == data and data["text"] != "", data["text"]


def drawn(around, made):
    sizes = [Image.open(io.BytesIO(data)).size for data, _ in around["stored"]]
    return sizes == [(EDGE, EDGE)] * len(made) and all(one["type"] == "image/png" for one in made), f"{len(made)} of {sizes}"


def draw():
    around = taken(ROUTERS / "images.py", "image_generations", "get_image_data", "_is_same_origin")
    form = types.SimpleNamespace(prompt="a red cat", n=2, size="512x512", model=None)
    made = asyncio.run(ended(around, around["image_generations"](None, form)))
    return drawn(around, made)


def edit():
    around = taken(ROUTERS / "images.py", "image_edits", "get_image_data", "get_image_file_item", "IMAGE_FILE_EXTENSIONS")
    picture = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(picture, "PNG")
    url = "data:image/png;base64," + base64.b64encode(picture.getvalue()).decode()
    form = types.SimpleNamespace(prompt="blue", n=None, size=None, model=None, image=[url, url], background=None)
    made = asyncio.run(ended(around, around["image_edits"](None, form)))
    return drawn(around, made)


check_all({
    "Open WebUI: speech is the file that it plays": speak,
    "Open WebUI: a file that it reads while it sends it is transcribed": transcribe,
    "Open WebUI: two images are stored as they were drawn": draw,
    "Open WebUI: two images become one edit": edit,
})
