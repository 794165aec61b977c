"""Environments for releases, made of layers that several releases share.

    HOME/layers/NAME/       one `pip install --target` each, whole or not there
    HOME/releases/0.5.22.json   which layers an installed release has, in the order of its PYTHONPATH

A release is installed once its JSON file is there, which is written last.
"""
