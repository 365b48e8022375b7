# Phalanx as an image: locked requirements, no root user, no write to its own files.
# The tag of the base image is fixed by the builder: --build-arg PYTHON=3.13-slim@sha256:…
ARG PYTHON=3.13-slim

FROM python:${PYTHON} AS build
WORKDIR /source
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements/build.txt requirements/run.txt requirements/
RUN python -m venv /build \
    && /build/bin/pip install --require-hashes -r requirements/build.txt \
    && python -m venv --without-pip /opt/phalanx \
    && /build/bin/pip --python /opt/phalanx/bin/python install \
        --require-hashes --only-binary :all: -r requirements/run.txt
COPY pyproject.toml README.md LICENSE ./
COPY models models
COPY solver solver
COPY adapters adapters
RUN /build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . \
    && /build/bin/pip --python /opt/phalanx/bin/python install --no-deps /wheel/*.whl
# What is in the image, by name and version, for those who look for known faults.
COPY tools/release/bill.py tools/release/bill.py
RUN python tools/release/bill.py /opt/phalanx/lib/python*/site-packages \
        /opt/phalanx/bill-of-materials.json

FROM python:${PYTHON}
COPY --from=build /opt/phalanx /opt/phalanx
# Memory for a large object goes back when it is read: the C library would keep up to
# 32 MiB of it in each of forty threads.
ENV PATH=/opt/phalanx/bin:$PATH \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    PHALANX_FOLDER=/var/lib/phalanx \
    PYTHONDONTWRITEBYTECODE=1
# A number, so that runAsNonRoot can be judged; what it writes goes to mounted folders.
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["phalanx"]
CMD ["run"]
